/* The healthy twin of starvation: the urgent task sleeps between its polls, so the background computes on. */
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
        port_sleep_ticks(1);
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
