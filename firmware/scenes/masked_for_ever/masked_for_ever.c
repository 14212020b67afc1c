/* A task returns from the middle of a critical section, and computes on with interrupts masked. No tick comes any more.
 * The healthy twin is short_critical_section. */
#include "bench_scene.h"

static port_task_t task;
static volatile uint32_t shared;

int main(void);
bool forgetful(void);

/* Counts inside a critical section. Returns false at the third call, from the middle of the section. */
__attribute__((noinline)) bool forgetful(void)
{
    port_critical_t entered = port_critical_enter();

    if (++shared == 3) {
        return false;
    }
    port_critical_exit(entered);
    return true;
}

/* Runs the task: it calls `forgetful` once a tick, and computes for ever after the third call. */
static void entry(void *argument)
{
    (void)argument;
    while (forgetful()) {
        port_sleep_ticks(1);
    }
    for (;;) {
        work(1000);
    }
}

/* Starts the board, creates the task, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    make_task(&task, "task", entry, 1);
    port_start();
    return 0;
}
