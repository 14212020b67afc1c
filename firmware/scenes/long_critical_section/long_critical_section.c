/* A task computes inside a critical section what it could have computed outside; each handler waits for it. */
#include "bench_scene.h"

static port_task_t task;

int main(void);
void careless(void);

/* Computes inside a critical section. */
__attribute__((noinline)) void careless(void)
{
    port_critical_t entered = port_critical_enter();

    work(500);
    port_critical_exit(entered);
}

/* Runs the task: it calls `careless` once a tick. */
static void entry(void *argument)
{
    (void)argument;
    for (;;) {
        careless();
        port_sleep_ticks(1);
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
