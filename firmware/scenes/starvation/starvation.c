/* A task polls instead of waiting; the less urgent one never runs again.
 *
 *   1  background computes
 *   2  greedy wakes (tick 5), and polls for what nobody does */
#include "bench_scene.h"

static port_task_t background, greedy;
static volatile bool done;

int main(void);

/* Runs task background: it computes for ever. */
static void background_entry(void *argument)
{
    (void)argument;
    for (;;) {
        work(1000);
    }
}

/* Runs task greedy: it polls for what nobody does, from tick 5 on. In the healthy twin it sleeps
 * a tick between two looks. */
static void greedy_entry(void *argument)
{
    (void)argument;
    port_sleep_ticks(5);
    while (!done) {
        work(100);
#ifdef SCENE_HEALTHY
        port_sleep_ticks(1);
#endif
    }
}

/* Starts the board, creates two tasks, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    make_task(&background, "background", background_entry, 1);
    make_task(&greedy, "greedy", greedy_entry, 2);
    port_start();
    return 0;
}
