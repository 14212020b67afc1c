/* The healthy twin of long_critical_section and of lost_ticks: what can be computed outside the section is. */
#include "bench_scene.h"

static port_task_t task;
static volatile uint32_t shared;

int main(void);
void careful(void);

/* Computes first, and only counts inside the critical section. */
__attribute__((noinline)) void careful(void)
{
    port_critical_t entered;

    work(500);
    entered = port_critical_enter();
    shared++;
    port_critical_exit(entered);
}

/* Runs the task: it calls `careful` once a tick. */
static void entry(void *argument)
{
    (void)argument;
    for (;;) {
        careful();
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
