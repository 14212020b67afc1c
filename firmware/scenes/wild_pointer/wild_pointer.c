/* A task writes where no memory is. The healthy twin is short_critical_section. */
#include "bench_scene.h"

static port_task_t task;
static volatile uintptr_t address = 0xC0000000u;

int main(void);
void store(uint32_t value);

/* Stores a value where no memory is. */
__attribute__((noinline)) void store(uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* Runs the task: it calls `store` after three ticks. */
static void entry(void *argument)
{
    (void)argument;
    port_sleep_ticks(3);
    store(1);
    for (;;) {
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
