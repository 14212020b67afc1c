/* Without a kernel: one flow of control, and the tick beside it. */
#include "bench_footprint.h"

#include "bench_core.h"

int main(void);

/* Starts the board and the tick, and then calls the measured service for ever, or waits for interrupts. */
int main(void)
{
    board_init();
    port_prepare();
    if (BENCH_TASKS_PER_CORE != 0 && !footprint_prepare()) {
        last_words_error(ERROR_PREPARE, "");
    }
    port_start();
    for (;;) {
        if (BENCH_TASKS_PER_CORE != 0) {
            footprint_use();
        } else {
            cpu_wait_for_interrupt();
        }
    }
}
