/* Task activation on a kernel. Task 0, the more urgent one, waits for the semaphore; task 1 raises the pin.
 *
 * Steps: 1 task 1 raises the pin, 2 the handler gives, 3 task 0 is activated and waits again, 4 task 1 drops the pin; once
 * measured up to the handler, once up to task 0, and again. */
#include "../bench_activation.h"

static volatile bool draining;

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    if (self->index == 0) {
        return port_semaphore_create(&activation, 1, 0);
    }
    board_edge_irq_enable(PORT_ISR_URGENCY);
    return true;
}

/* Does the work of the more urgent task, which the handler wakes. */
static void activated(struct bench_task *self)
{
    for (;;) {
        bool taken = port_semaphore_take(&activation);

        if (draining) {
            draining = false;
            return;
        }
        if (target == TARGET_TASK) {
            bench_stop(SERIES_ISR_ACTIVATES_TASK); /* 3 */
        }
        self->failures += taken ? 0 : 1;
        bench_count(self);
    }
}

/* Does the work of the less urgent task, which raises the pin. */
static void raising(struct bench_task *self)
{
    struct bench_task *above = bench_task(self->core, 0);

    while (bench_running()) {
        uint32_t before = above->count;

        target = TARGET_HANDLER;
        bench_start_by_pin(SERIES_ISR_ENTRY); /* 1 */
        while (above->count == before) {
        }
        board_pin_drop(); /* 4 */
        target = TARGET_TASK;
        bench_start_by_pin(SERIES_ISR_ACTIVATES_TASK);
        while (above->count == before + 1u) {
        }
        board_pin_drop();
        not_interrupted += handler_entries == above->count ? 0 : 1;
    }
    target = TARGET_NONE;
    draining = true;
    (void)port_semaphore_give(&activation);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        activated(self);
    } else {
        raising(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("not_interrupted", core, not_interrupted);
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
