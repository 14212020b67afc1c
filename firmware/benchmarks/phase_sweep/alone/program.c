/* Phase sweep without a kernel: the only flow of control calls the service; the handler gives, and nobody waits. */
#include "../bench_phase.h"

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return phase_prepare(self);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        BENCH_MARK_(PHASE_PERIOD);
        self->failures += phase_service(self) ? 0 : 1;
        bench_count(self);
    }
}

/* Sends 1 if the handler has given its semaphore, or 0 if not. Nothing in the image raises the
 * interrupt, so a 1 is an error. */
static void report(unsigned core)
{
    bench_check("wakes", core, port_semaphore_take_for(&raised[core], 1) ? 1 : 0);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
