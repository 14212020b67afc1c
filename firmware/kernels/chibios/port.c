/* ChibiOS/RT behind the port contract: what is never measured, and what its maker leaves to the application. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

#if BENCH_CORES > 1
#include "core1.h"
#endif
#include "bench_pieces.h"

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / CH_CFG_ST_FREQUENCY)
/* The stack of the thread that starts the others. It only waits. */
#define MAIN_STACK_BYTES 256

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "CH_CFG_ST_FREQUENCY is out of SysTick's range");

memory_heap_t port_heap;

static _Alignas(8) unsigned char main_stack[MAIN_STACK_BYTES];

void isr_systick(void);

/* The caller becomes the kernel's main thread. It is more urgent than all tasks, so those that it makes wait for it. Its
 * stack is known to the port only. */
void port_prepare(void)
{
#if BENCH_CORES > 1
    core1_launch(); /* before the kernel handles the words from core 1 */
#endif
    chSysInit();
    (void)chThdSetPriority(HIGHPRIO);
    chThdGetSelfX()->wabase = (stkalign_t *)(void *)main_stack;
    chThdGetSelfX()->stack_bytes = sizeof main_stack;
#if BENCH_CORES > 1
    core1_join();
#endif
}

#if BENCH_CORES > 1
/* Returns memory for an object, which tasks of all cores may ask for at once, or NULL if it is used up. */
static void *cut_for_object(size_t bytes)
{
    port_critical_t entered = port_critical_enter();
    void *piece = cut(bytes);

    port_critical_exit(entered);
    return piece;
}
#else
#define cut_for_object cut
#endif

/* Creates a task with a priority on a core, before the kernel starts. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    /* A working area holds the thread's block, its context and the stack. */
    size_t bytes = THD_WORKING_AREA_SIZE(request->stack_bytes);
    unsigned char *area = cut(bytes);
    const thread_descriptor_t description = {
        .name = request->name,
        .wbase = (stkalign_t *)(void *)area,
        .wend = (stkalign_t *)(void *)(area + bytes),
        .prio = PORT_PRIORITY(request->priority),
        .funcp = request->entry,
        .arg = request->argument,
#if BENCH_CORES > 1
        .instance = request->core == 0 ? &ch0 : &ch1,
#endif
    };

    if (area == NULL || request->core >= BENCH_CORES) {
        return false;
    }
    *handle = chThdCreate(&description);
    return true;
}

/* The kernel fills a new working area with one byte. What it adds for contexts is not counted as the task's. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    uint32_t area_bytes = (uint32_t)((unsigned char *)task - (unsigned char *)task->wabase);
    uint32_t used = area_bytes - untouched_bytes((unsigned char *)task->wabase, area_bytes, CH_DBG_STACK_FILL_VALUE);

    return used < stack_bytes ? used : stack_bytes;
}

/* Creates a queue of `length` pointers. False if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    msg_t *slots = cut_for_object(length * sizeof *slots);

    if (slots == NULL) {
        return false;
    }
    chMBObjectInit(queue, slots, length);
    return true;
}

/* Creates a pool of blocks of one size. False if it fails. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    void *room = cut_for_object(blocks * block_bytes);

    if (room == NULL) {
        return false;
    }
    chPoolObjectInit(pool, block_bytes, NULL);
    chPoolLoadArray(pool, room, blocks);
    return true;
}

/* Returns what is free of the heap, its largest piece, and the number of pieces. */
void port_heap_free(struct port_heap_free *free)
{
    size_t bytes, largest;

    free->pieces = chHeapStatus(&port_heap, &bytes, &largest);
    free->bytes = bytes;
    free->largest_bytes = largest;
}

/* Lets the main thread wait for ever, on a stack of its own: threads use the core's process stack, and what was the
 * stack until now is that of the handlers. It must have its own frame, so it must not be expanded in its caller. */
__attribute__((noinline)) static void wait_for_ever(void)
{
    thread_reference_t never = NULL;

#if BENCH_CORES > 1
    core1_release(TICK_CYCLES);
#endif
    cpu_systick_start(TICK_CYCLES);
    chSysLock();
    (void)chThdSuspendS(&never);
    chSysUnlock();
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    CPU_SCB_SHPR3 = (CPU_SCB_SHPR3 & ~CPU_SHPR3_SYSTICK(0xFFu)) | CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT);
#if BENCH_NEEDS_HEAP
    /* What tasks and queues have left. */
    size_t bytes = (sizeof memory - memory_used) & ~(size_t)7u;

    chHeapObjectInit(&port_heap, cut(bytes), bytes);
#endif
    __set_PSP((uint32_t)&main_stack[sizeof main_stack]);
    __set_CONTROL(2);
    __ISB();
    __enable_irq();
    wait_for_ever();
}

/* The tick. Each core has its own. */
void isr_systick(void)
{
    CH_IRQ_PROLOGUE();

    chSysLockFromISR();
    chSysTimerHandlerI();
    chSysUnlockFromISR();

    CH_IRQ_EPILOGUE();
}

/* The kernel calls it where it gives up. */
void port_halted(const char *reason)
{
    last_words_assert(reason, 0);
}
