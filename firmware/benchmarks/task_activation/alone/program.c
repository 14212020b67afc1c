/* Task activation without a kernel: the flow of control that raised the pin waits for what the handler gives.
 *
 * Steps: 1 the pin rises, 2 the handler gives, 3 the take finds it, once the core is back; 4 the pin is dropped. */
#include "../bench_activation.h"

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    board_edge_irq_enable(PORT_ISR_URGENCY);
    return port_semaphore_create(&activation, 1, 0);
}

/* Takes the semaphore that the handler gives, and counts a failure. */
static void take(struct bench_task *self)
{
    self->failures += port_semaphore_take(&activation) ? 0 : 1;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        target = TARGET_HANDLER;
        bench_start_by_pin(SERIES_ISR_ENTRY); /* 1 */
        take(self);
        board_pin_drop(); /* 4 */
        target = TARGET_TASK;
        bench_start_by_pin(SERIES_ISR_ACTIVATES_TASK);
        (void)port_semaphore_take(&activation);
        bench_stop(SERIES_ISR_ACTIVATES_TASK); /* 3 */
        board_pin_drop();
        bench_count(self);
        not_interrupted += handler_entries == 2u * self->count ? 0 : 1;
    }
    target = TARGET_NONE;
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("not_interrupted", core, not_interrupted);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
