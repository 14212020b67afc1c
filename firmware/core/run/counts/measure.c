/* Counts: the tasks' counters at the edges of the window are all there is. */
#include "../bench_run.h"

/* Prepares nothing: a benchmark that counts needs no cycle counter. */
void measure_prepare(void)
{
}

/* Does nothing: a benchmark that counts has no samples. */
void measure_opened(void)
{
}

/* Reports nothing: a benchmark that counts has no samples. */
void measure_report(void)
{
}
