/* Counts, with tasks: the window lasts its time. */
#include "../../bench_run.h"

DEMAND_A_TICK(BENCH_WINDOW_MS);

void measure_make_wait(void)
{
}

void measure_wait(void)
{
    port_sleep_ticks(TICKS_OF_MS(BENCH_WINDOW_MS));
}

void measure_body_ended(void)
{
}
