/* Counts, with tasks: the window lasts its time. */
#include "../../bench_run.h"

DEMAND_A_TICK(BENCH_WINDOW_MS);

/* Creates nothing: the window of a benchmark that counts lasts a fixed time. */
void measure_make_wait(void)
{
}

/* Waits in the control task until the window's time is over. */
void measure_wait(void)
{
    port_sleep_ticks(TICKS_OF_MS(BENCH_WINDOW_MS));
}

/* Does nothing: the end of a body does not end the window. */
void measure_body_ended(void)
{
}
