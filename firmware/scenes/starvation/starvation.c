/* A task polls instead of waiting; the less urgent one never runs again.
 *
 *   1  background computes
 *   2  greedy wakes (tick 5), and polls for what nobody does */
#include "bench_scene.h"

static port_task_t background, greedy;
static volatile bool done;

int main(void);

static void background_entry(void *argument)
{
    (void)argument;
    for (;;) {
        work(1000);
    }
}

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

int main(void)
{
    board_init();
    port_prepare();
    make_task(&background, "background", background_entry, 1);
    make_task(&greedy, "greedy", greedy_entry, 2);
    port_start();
    return 0;
}
