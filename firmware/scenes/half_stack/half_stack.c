/* The healthy twin of full_stack: the task calls itself less often. */
#include "bench_scene.h"

#define LEFT_BYTES 600u

static port_task_t task;

int main(void);
uint32_t deeper(const volatile uint32_t *first);

__attribute__((noinline)) uint32_t deeper(const volatile uint32_t *first)
{
    volatile uint32_t here = 1;

    if ((uintptr_t)first - (uintptr_t)&here < BENCH_STACK_BYTES - LEFT_BYTES) {
        return deeper(first) + here;
    }
    return here;
}

static void entry(void *argument)
{
    volatile uint32_t first = 0;

    (void)argument;
    for (;;) {
        (void)deeper(&first);
        port_sleep_ticks(1);
    }
}

int main(void)
{
    board_init();
    port_prepare();
    make_task(&task, "task", entry, 1);
    port_start();
    return 0;
}
