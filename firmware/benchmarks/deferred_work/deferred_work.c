/* Deferred work: from a submission until the kernel's task calls the submitted function.
 *
 * Starts the clock   a task, or a handler, is about to submit.
 * Ends the clock     the function's first statement.
 * Inside by design   the submission, the message to the kernel's task, the switch to it, its way to the function; from a
 *                    handler also the way out of it.
 * Excluded           the interrupt's entry; what the function does; the way back to the task.
 *
 * Steps: 1 the task submits, 2 the kernel calls the function at once, 3 the task pends the software interrupt, 4 its handler
 * submits, 5 the kernel calls the function when the handler is left. */
#include "bench/latency.h"
#include "bench/work.h"

static volatile bool by_handler;
static volatile uint32_t calls;
static uint32_t submissions;
static struct bench_task *task;

/* Ends the measurement of a submission. The kernel calls it, because a task or the handler has submitted it. */
static PORT_WORK_CALLBACK(work)
{
    if (by_handler) {
        bench_stop(SERIES_WORK_SUBMIT_HANDLER); /* 5 */
    } else {
        bench_stop(SERIES_WORK_SUBMIT_TASK); /* 2 */
    }
    calls = calls + 1u;
}

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: submits the work function from a handler. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    bench_start(SERIES_WORK_SUBMIT_HANDLER);
    if (!port_work_submit_from_isr(work)) { /* 4 */
        task->failures++;
    }
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    task = self;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    while (bench_running()) {
        bool done;

        by_handler = false;
        bench_start(SERIES_WORK_SUBMIT_TASK);
        done = port_work_submit(work); /* 1 */
        self->failures += done ? 0 : 1;
        by_handler = true;
        board_soft_irq_pend(); /* 3 */
        submissions += 2u;
        self->failures += calls == submissions ? 0 : 1;
        bench_count(self);
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    bench_check("submissions", core, submissions);
    bench_check("calls", core, calls);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
