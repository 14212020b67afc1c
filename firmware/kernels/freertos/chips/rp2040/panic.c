/* Where the kernel's RP2040 port ends up when a task function returns. */
#include "bench_core.h"
#include "pico.h"

/* Ends the run because the kernel called an SDK function that is not supported here. */
void panic_unsupported(void)
{
    last_words_error(ERROR_TASK_RETURNED, "a task function returned");
}
