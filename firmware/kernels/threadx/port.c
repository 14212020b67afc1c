/* ThreadX behind the port contract: what is never measured, and what its maker leaves to the application. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"
#include "bench_pieces.h"

#include "tx_initialize.h"
#include "tx_thread.h"

/* More urgent than the switch's handler, in which the kernel idles; less than a benchmark's interrupts may be. */
#define TICK_URGENCY 0x80u
#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / TX_TIMER_TICKS_PER_SECOND)

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "TX_TIMER_TICKS_PER_SECOND is out of SysTick's range");

TX_BYTE_POOL port_heap;

void isr_systick(void);
void _tx_initialize_low_level(void);
void _tx_timer_interrupt(void);

/* Prepares the kernel, before any object or task is created. */
void port_prepare(void)
{
    _tx_initialize_kernel_setup();
}

/* A thread, and what it begins with: the kernel hands over one number and no pointer. */
struct task {
    TX_THREAD thread;
    void (*entry)(void *argument);
    void *argument;
};

/* Runs as a thread: calls the task's function. The kernel hands over the task's address as a number. */
static void begin(ULONG task)
{
    const struct task *self = (const struct task *)task;

    self->entry(self->argument);
}

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    struct task *made = cut(sizeof *made);
    void *stack = cut(request->stack_bytes);
    UINT priority = PORT_PRIORITY(request->priority);

    if (made == NULL || stack == NULL || request->core != 0) {
        return false;
    }
    made->entry = request->entry;
    made->argument = request->argument;
    *handle = &made->thread;
    return tx_thread_create(&made->thread, (CHAR *)request->name, begin, (ULONG)made, stack, request->stack_bytes, priority,
                            priority, TX_NO_TIME_SLICE, TX_AUTO_START) == TX_SUCCESS;
}

/* Returns how many bytes of a task's stack were used at most. The kernel fills a new stack with one byte's value. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - untouched_bytes(task->tx_thread_stack_start, stack_bytes, (unsigned char)TX_STACK_FILL);
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. */
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    UINT words = (item_bytes + sizeof(ULONG) - 1) / sizeof(ULONG);
    uint32_t bytes = length * words * (uint32_t)sizeof(ULONG);
    void *room = cut(bytes);

    return room != NULL && words <= TX_16_ULONG && tx_queue_create(queue, (CHAR *)"", words, room, bytes) == TX_SUCCESS;
}

/* Creates a pool of blocks of one size. Returns false if it fails. Each block has a word of the kernel before it. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    uint32_t bytes = blocks * (block_bytes + (uint32_t)sizeof(void *));
    void *room = cut(bytes);

    return room != NULL && tx_block_pool_create(pool, (CHAR *)"", block_bytes, room, bytes) == TX_SUCCESS;
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
#if BENCH_NEEDS_HEAP
    /* What tasks and queues have left. */
    ULONG bytes = (ULONG)((sizeof memory - memory_used) & ~(size_t)7u);

    if (tx_byte_pool_create(&port_heap, (CHAR *)"", cut(bytes), bytes) != TX_SUCCESS) {
        last_words_error(ERROR_NO_MEMORY, "nothing is left for the heap");
    }
#endif
    tx_kernel_enter();
}

/* Prepares the core for the kernel: stack, urgencies and tick. The kernel calls it as it starts. Interrupts are masked
 * until the first thread runs. */
void _tx_initialize_low_level(void)
{
    (void)cpu_mask_interrupts();
    _tx_thread_system_stack_ptr = *(void **)(uintptr_t)CPU_SCB_VTOR;
    CPU_SCB_SHPR2 = CPU_SHPR2_SVCALL(CPU_LEAST_URGENT);
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(TICK_URGENCY) | CPU_SHPR3_PENDSV(CPU_LEAST_URGENT);
    cpu_systick_start(TICK_CYCLES);
}

/* Handles the tick: advances the kernel's time. */
void isr_systick(void)
{
    _tx_timer_interrupt();
}

/* Does nothing. The kernel calls it so that tasks and objects are created, but they exist already. */
void tx_application_define(void *first_unused_memory)
{
    (void)first_unused_memory;
}
