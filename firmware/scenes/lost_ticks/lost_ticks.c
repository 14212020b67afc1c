/* A task masks interrupts for longer than two periods of the tick. One request of the tick stays pending, the next is
 * lost, and the kernel's time falls behind. The healthy twin is short_critical_section. */
#include "bench_scene.h"

static port_task_t task;

int main(void);
void careless(void);

/* Computes inside a critical section for longer than two ticks. */
__attribute__((noinline)) void careless(void)
{
    port_critical_t entered = port_critical_enter();

    work(25000);
    port_critical_exit(entered);
}

/* Runs the task: it calls `careless` every few ticks. */
static void entry(void *argument)
{
    (void)argument;
    for (;;) {
        port_sleep_ticks(10);
        careless();
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
