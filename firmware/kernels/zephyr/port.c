/* Zephyr behind the port contract: what is never measured, and the tables through which its entry code finds a handler. */
#include "bench/async.h"
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"

#define STACK_ALIGNMENT_BYTES 8u
#define SYST_CORE_CLOCK (1u << 2)
#define FIRST_INTERRUPT 16u

#ifdef ZEPHYR_WITHOUT_k_timeout_t
/* Its heap has blocks of a few sizes, aligned to 4: what is made once is cut from memory beside it. Its main
 * thread's stack is part of the allowance, too. */
#define PIECES_ELSEWHERE_BYTES (CONFIG_HEAP_MEM_POOL_SIZE + CONFIG_MAIN_STACK_SIZE)
#include "bench_pieces.h"
#define cut_stack cut
#define wait_for_ever() k_thread_suspend(k_current_get())
#else
#if __has_include(<zephyr/kernel.h>)
#include <zephyr/fatal.h>
#include <zephyr/irq.h>
#include <zephyr/linker/sections.h>
#include <zephyr/sw_isr_table.h>
#else
#include <fatal.h>
#include <irq.h>
#include <linker/sections.h>
#include <sw_isr_table.h>
#endif

#if KERNEL_VERSION_NUMBER < 0x30700
typedef z_arch_esf_t port_frame_t;
#else
typedef struct arch_esf port_frame_t;
#endif
#define STACKED(frame) ((frame)->basic)
#define cut k_malloc
#define cut_stack(bytes) k_aligned_alloc(STACK_ALIGNMENT_BYTES, bytes)
#define wait_for_ever() ((void)k_sleep(K_FOREVER))
#endif

/* Handles an interrupt for which the image has no handler: reports it to Zephyr as an unexpected one. */
static void no_handler(void)
{
    z_irq_spurious(NULL);
}

void BOARD_SOFT_IRQ_HANDLER(void) __attribute__((weak, alias("no_handler")));
void BOARD_EDGE_IRQ_HANDLER(void) __attribute__((weak, alias("no_handler")));
void BOARD_ASYNC_IRQ_HANDLER(void) __attribute__((weak, alias("no_handler")));

/* What Zephyr's build makes of its applications' IRQ_CONNECT, in the same places: every vector leads to its entry code,
 * which looks a line's handler up. All of the chip's lines are in it: Zephyr leaves out those without a source, one of
 * which is ours (RP2040). No handler of ours takes the argument that it hands over. */
#define CALLED(handler) ((__typeof__(_sw_isr_table[0].isr))(void (*)(void))(handler))

#pragma GCC diagnostic ignored "-Woverride-init"
uintptr_t __irq_vector_table _irq_vector_table[BOARD_IRQ_LINES] = {
    [0 ... BOARD_IRQ_LINES - 1] = (uintptr_t)&_isr_wrapper,
};

struct _isr_table_entry __sw_isr_table _sw_isr_table[BOARD_IRQ_LINES] = {
    [0 ... BOARD_IRQ_LINES - 1] = {.isr = z_irq_spurious},
    [BOARD_IRQ_ASYNCHRONOUS] = {.isr = CALLED(BOARD_ASYNC_IRQ_HANDLER)},
    [BOARD_PINS_IN_IRQ] = {.isr = CALLED(BOARD_EDGE_IRQ_HANDLER)},
    [BOARD_IRQ_SOFT] = {.isr = CALLED(BOARD_SOFT_IRQ_HANDLER)},
};

/* Sets SysTick's period for the board's present clock, which may differ from the one that Zephyr has set. A SysTick
 * that does not count the core's clock needs no change. */
void port_prepare(void)
{
    if ((CPU_SYST_CSR & SYST_CORE_CLOCK) != 0) {
        CPU_SYST_RVR = BOARD_CLOCK_SYS_HZ / PORT_TICK_HZ - 1u;
        CPU_SYST_CVR = 0;
    }
}

/* Runs as a thread: calls the task's function. */
static void begin(void *task, void *unused, void *unused_too)
{
    struct port_task *self = task;

    (void)unused;
    (void)unused_too;
    self->entry(self->argument);
}

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    struct port_task *task = cut(sizeof *task);
    k_thread_stack_t *stack = cut_stack(K_THREAD_STACK_LEN(request->stack_bytes));

    if (task == NULL || stack == NULL || request->core != 0) {
        return false;
    }
    task->entry = request->entry;
    task->argument = request->argument;
    *handle = task;
    (void)k_sem_init(&task->notified, 0, K_SEM_MAX_LIMIT);
    (void)k_thread_create(&task->thread, stack, request->stack_bytes, begin, task, NULL, NULL,
                          (int)PORT_PRIORITY(request->priority), 0, K_NO_WAIT);
    return k_thread_name_set(&task->thread, request->name) == 0;
}

/* Starts the tasks: lets Zephyr's main thread wait for ever. That thread has created them, and no task preempts it,
 * so they run when it waits. */
void port_start(void)
{
    wait_for_ever();
    last_words_error(ERROR_KERNEL_START, "Zephyr woke its main thread");
}

/* Returns how many bytes of a task's stack were used at most. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    size_t unused = 0;

    return k_thread_stack_space_get(&task->thread, &unused) == 0 ? stack_bytes - (uint32_t)unused : stack_bytes;
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. */
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    char *items = cut((size_t)length * item_bytes);

    if (items != NULL) {
        k_msgq_init(queue, items, item_bytes, length);
    }
    return items != NULL;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. */
bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return port_queue_create(mailbox, 1, sizeof(void *));
}

/* Creates a pool of blocks of one size. Returns false if it fails. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    void *buffer = cut((size_t)blocks * block_bytes);

    return buffer != NULL && PORT_DONE(k_mem_slab_init(pool, buffer, block_bytes, blocks));
}

/* Returns the number of the exception whose handler runs, or 0 in a task. */
static uint32_t running_exception(void)
{
    uint32_t number;

    __asm volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}

/* Ends the run with a record of what Zephyr found broken, or of a fault that Zephyr cannot handle. It stands in for
 * Zephyr's function of this name. */
void k_sys_fatal_error_handler(unsigned int reason, const port_frame_t *frame)
{
    uint32_t exception = running_exception();

    if (frame != NULL) {
        last_words_fault(&(struct fault_facts){.kind = exception >= FIRST_INTERRUPT ? "unexpected" : "hardfault",
                                               .exception = exception,
                                               .pc = STACKED(frame).pc,
                                               .lr = STACKED(frame).lr,
                                               .psr = STACKED(frame).xpsr,
                                               .sp = (uintptr_t)(frame + 1)});
    }
    last_words_assert("Zephyr", reason);
}
