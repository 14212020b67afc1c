/* Phase sweep on a kernel. Task 0 calls the service; task 1, the more urgent one, waits for what the handler gives.
 *
 * Steps: 1 task 0 goes through one period; if the interrupt comes, 2 the handler gives and 3 task 1 is back from its take.
 * At the end of a phase task 0 gives once behind the flag `draining`, and task 1 leaves. */
#include "../bench_phase.h"

static volatile bool draining[BENCH_CORES];

/* Reported as check: the interrupt came although nobody raises it. */
static uint32_t wakes[BENCH_CORES];

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || phase_prepare(self);
}

/* Does the work of task 0, which calls the service. */
static void calling(struct bench_task *self)
{
    while (bench_running()) {
        BENCH_MARK_(PHASE_PERIOD); /* 1 */
        self->failures += phase_service(self) ? 0 : 1;
        bench_count(self);
    }
    draining[self->core] = true;
    self->failures += port_semaphore_give(&raised[self->core]) ? 0 : 1;
}

/* Does the work of task 1, which the interrupt's handler wakes. */
static void woken(struct bench_task *self)
{
    for (;;) {
        bool taken = port_semaphore_take(&raised[self->core]);

        BENCH_MARK_(PHASE_WOKEN); /* 3 */
        self->failures += taken ? 0 : 1;
        if (draining[self->core]) {
            draining[self->core] = false;
            return;
        }
        wakes[self->core]++;
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        calling(self);
    } else {
        woken(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("wakes", core, wakes[core]);
}

const struct bench_program bench_program = {
    .priority = {1, 2},
    .prepare = prepare,
    .body = body,
    .report = report,
};
