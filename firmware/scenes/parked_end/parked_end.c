/* A program has nothing left to do: it masks interrupts and stays in a loop. That is an end, and no fault for sure. */
#include "bench_scene.h"

static port_task_t task;

int main(void);

/* Runs the task: it masks interrupts after three ticks, and stays in a loop. */
static void entry(void *argument)
{
    (void)argument;
    port_sleep_ticks(3);
    (void)port_critical_enter();
    for (;;) {
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
