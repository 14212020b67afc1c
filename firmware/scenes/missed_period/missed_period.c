/* A control task has a period of two ticks. A more urgent one computes for about three ticks now and then. */
#include "bench_scene.h"

#ifdef SCENE_HEALTHY
enum { LOGGER = 1, CONTROL = 2 };
#else
enum { CONTROL = 1, LOGGER = 2 };
#endif

static port_task_t control, logger;

int main(void);

/* Runs task control: it works a little in each period of two ticks. */
static void control_entry(void *argument)
{
    uint32_t last = port_tick_now();

    (void)argument;
    for (;;) {
        port_sleep_until(&last, 2);
        work(500);
    }
}

/* Runs task logger: it computes for about three ticks, every twenty ticks. */
static void logger_entry(void *argument)
{
    (void)argument;
    for (;;) {
        port_sleep_ticks(20);
        work(30000);
    }
}

/* Starts the board, creates two tasks, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    make_task(&control, "control", control_entry, CONTROL);
    make_task(&logger, "logger", logger_entry, LOGGER);
    port_start();
    return 0;
}
