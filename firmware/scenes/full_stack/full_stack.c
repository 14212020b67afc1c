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

/* Calls itself until only LEFT_BYTES of the stack are left below `first`. Returns the number of calls. */
__attribute__((noinline)) uint32_t deeper(const volatile uint32_t *first)
{
    volatile uint32_t here = 1;

    if ((uintptr_t)first - (uintptr_t)&here < BENCH_STACK_BYTES - LEFT_BYTES) {
        return deeper(first) + here;
    }
    return here;
}

/* Runs the task: it uses its stack once a tick. */
static void entry(void *argument)
{
    volatile uint32_t first = 0;

    (void)argument;
    for (;;) {
        (void)deeper(&first);
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
