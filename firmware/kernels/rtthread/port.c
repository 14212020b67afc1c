/* RT-Thread behind the port contract: what is never measured, and what its maker leaves to the application. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"
#include "bench_pieces.h"

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / RT_TICK_PER_SECOND)
/* Longer than any run: the kernel has no thread without a slice. */
#define LONGEST_SLICE_TICKS 0xFFFFFFFFu
/* What the kernel fills a new stack with. */
#define UNTOUCHED '#'

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "RT_TICK_PER_SECOND is out of SysTick's range");

void isr_systick(void);

#ifdef RT_DEBUG
/* Ends the run with a record of an assertion that failed in the kernel. */
static void asserted(const char *expression, const char *function, rt_size_t line)
{
    (void)expression;
    last_words_assert(function, (uint32_t)line);
}
#endif

/* Prepares the kernel, before any object or task is created. */
void port_prepare(void)
{
    (void)rt_hw_interrupt_disable(); /* until the first thread runs */
    rt_system_timer_init();
    rt_system_scheduler_init();
#ifdef RT_DEBUG
    rt_assert_set_hook(asserted);
#endif
}

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *task, const struct port_task_request *request)
{
    struct rt_thread *made = cut(sizeof *made);
    void *stack = cut(request->stack_bytes);

    if (made == NULL || stack == NULL || request->core != 0) {
        return false;
    }
    *task = made;
    return rt_thread_init(made, request->name, request->entry, request->argument, stack, request->stack_bytes,
                          (rt_uint8_t)PORT_PRIORITY(request->priority), LONGEST_SLICE_TICKS) == RT_EOK &&
           rt_thread_startup(made) == RT_EOK;
}

/* Returns how many bytes of a task's stack were used at most. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - untouched_bytes(task->stack_addr, stack_bytes, UNTOUCHED);
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. Each message has the
 * kernel's link before it. */
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    uint32_t bytes = length * (RT_ALIGN(item_bytes, RT_ALIGN_SIZE) + (uint32_t)sizeof(void *));
    void *room = cut(bytes);

    queue->item_bytes = item_bytes;
    return room != NULL && rt_mq_init(&queue->kernels, "", room, item_bytes, bytes, RT_IPC_FLAG_PRIO) == RT_EOK;
}

/* Creates a queue of `length` pointers. Returns false if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    void *room = cut(length * sizeof(rt_ubase_t));

    return room != NULL && rt_mb_init(queue, "", room, length, RT_IPC_FLAG_PRIO) == RT_EOK;
}

/* Creates a pool of blocks of one size. Returns false if it fails. Each block has the kernel's link before it, and the
 * kernel uses as much of the memory as can be aligned. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    uint32_t bytes = RT_ALIGN(blocks * (RT_ALIGN(block_bytes, RT_ALIGN_SIZE) + (uint32_t)sizeof(void *)), RT_ALIGN_SIZE);
    void *room = cut(bytes);

    return room != NULL && rt_mp_init(pool, "", room, bytes, block_bytes) == RT_EOK;
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
#if BENCH_NEEDS_HEAP
    /* What tasks and queues have left. */
    size_t bytes = (sizeof memory - memory_used) & ~(size_t)7u;
    unsigned char *heap = cut(bytes);

    rt_system_heap_init(heap, heap + bytes);
#endif
    rt_thread_idle_init();
    cpu_systick_start(TICK_CYCLES);
    rt_system_scheduler_start();
}

/* Handles the tick: advances the kernel's time, as a handler that the kernel knows of. */
void isr_systick(void)
{
    rt_interrupt_enter();
    rt_tick_increase();
    rt_interrupt_leave();
}
