/* The healthy twin of missed_period: the control task is more urgent than the one that computes for long. */
#include "bench_scene.h"

static port_task_t control, logger;

int main(void);

static void control_entry(void *argument)
{
    uint32_t last = port_tick_now();

    (void)argument;
    for (;;) {
        port_sleep_until(&last, 2);
        work(500);
    }
}

static void logger_entry(void *argument)
{
    (void)argument;
    for (;;) {
        port_sleep_ticks(20);
        work(30000);
    }
}

int main(void)
{
    board_init();
    port_prepare();
    make_task(&control, "control", control_entry, 2);
    make_task(&logger, "logger", logger_entry, 1);
    port_start();
    return 0;
}
