/* A task calls itself until its stack is used but for the context of an interrupt and little more. */
#include "bench_scene.h"

#ifdef SCENE_HEALTHY
#define LEFT_BYTES 600u
#else
#define LEFT_BYTES 60u
#endif

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
