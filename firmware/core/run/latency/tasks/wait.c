/* Latencies, with tasks: the window ends when a body has returned, for that happens when all samples are there.
 *
 * The control task must not wake meanwhile: it is the most urgent one, and would lengthen whatever interval it fell into. */
#include "../../bench_run.h"

#if !KERNEL_SERVICES_TIMEOUT
#error "Latencies on a kernel with tasks need the service timeout: the control task waits for their end; see spec/port.md."
#endif

DEMAND_A_TICK(BENCH_WINDOW_MS);

static port_semaphore_t body_ended;

/* Creates the semaphore on which the control task waits for the samples. */
void measure_make_wait(void)
{
    if (!port_semaphore_create(&body_ended, 1, 0)) {
        last_words_error(ERROR_PREPARE, "the semaphore of the control task");
    }
}

/* Waits in the control task until a body has ended, or until the time limit. */
void measure_wait(void)
{
    /* After the limit the series lack samples, and measure_report() says which. */
    (void)port_semaphore_take_for(&body_ended, TICKS_OF_MS(BENCH_WINDOW_MS));
}

/* Wakes the control task, because a body has ended. */
void measure_body_ended(void)
{
    (void)port_semaphore_give(&body_ended); /* every task gives; the first one counts */
}
