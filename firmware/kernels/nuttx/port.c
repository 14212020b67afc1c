/* NuttX behind the port contract: what is never measured, and the entry that NuttX's start-up ends in. */
#include "bench/async.h"
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"

#include <arch/irq.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>

#define FIRST_LINE 16
#define STACK_COLOUR 0xDEADBEEFu
#define SYST_CORE_CLOCK (1u << 2)

int main(void);
int rtoslab_entry(int argc, char **argv);

/* The image's handlers, of which it may have any. */
void BOARD_SOFT_IRQ_HANDLER(void) __attribute__((weak));
void BOARD_EDGE_IRQ_HANDLER(void) __attribute__((weak));
void BOARD_ASYNC_IRQ_HANDLER(void) __attribute__((weak));

/* Attaches a handler to an interrupt line, if the image has one. NuttX's dispatcher calls it with arguments and
 * ignores what it returns. */
static void attach(unsigned line, void (*handler)(void))
{
    if (handler != NULL && irq_attach((int)(FIRST_LINE + line), (xcpt_t)handler, NULL) != 0) {
        last_words_error(ERROR_KERNEL_START, "NuttX did not take a handler");
    }
}

/* Attaches the image's handlers and runs `main`. NuttX starts it as a task once the kernel is up, and it is more urgent
 * than all tasks that it creates. */
int rtoslab_entry(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    attach(BOARD_IRQ_SOFT, BOARD_SOFT_IRQ_HANDLER);
    attach(BOARD_PINS_IN_IRQ, BOARD_EDGE_IRQ_HANDLER);
    attach(BOARD_IRQ_ASYNCHRONOUS, BOARD_ASYNC_IRQ_HANDLER);
    return main();
}

/* Sets SysTick's period for the board's present clock, which may differ from the one that NuttX has set. A SysTick that
 * does not count the core's clock needs no change. */
void port_prepare(void)
{
    if ((CPU_SYST_CSR & SYST_CORE_CLOCK) != 0) {
        CPU_SYST_RVR = BOARD_CLOCK_SYS_HZ / PORT_TICK_HZ - 1u;
        CPU_SYST_CVR = 0;
    }
}

/* Threads are made before the kernel may run them: another core would begin at once. Their stacks and control blocks lie in
 * NuttX's heap, which is all the RAM that nothing else takes: so no more is kept here than what a thread lacks. Beside the
 * tasks of each core there is one that controls, and in the suite of conformance one for any core. */
static struct port_task tasks[BENCH_CORES * BENCH_TASKS_PER_CORE + 1u + BENCH_ANY_CORE];
static unsigned made;

/* Runs as a thread: waits until the kernel may run the task, and calls its function. Returns NULL. */
static void *begin(void *task)
{
    struct port_task *self = task;

    (void)sem_wait(&self->started);
    self->entry(self->argument);
    return NULL;
}

/* NuttX keeps on a thread's stack what other kernels keep in its control block: data of the thread, and all registers
 * while it does not run. A smaller stack would hold little else. */
#define LEAST_STACK_BYTES 768u

/* Returns the bytes of stack that a task's thread gets: what was asked for, or the least that NuttX needs. */
static size_t stack_of(const struct port_task_request *request)
{
    return request->stack_bytes < LEAST_STACK_BYTES ? LEAST_STACK_BYTES : request->stack_bytes;
}

/* Creates the thread of a task, with its priority, stack and core. Returns false if the kernel refuses. */
static bool make_thread(struct port_task *task, const struct port_task_request *request)
{
    struct sched_param is = {.sched_priority = (int)PORT_PRIORITY(request->priority)};
    pthread_attr_t how;
#if BENCH_ANY_CORE
    cpu_set_t cores = (cpu_set_t)(request->core == PORT_ANY_CORE ? (1u << BENCH_CORES) - 1u : 1u << request->core);
#elif defined CONFIG_SMP
    cpu_set_t cores = (cpu_set_t)(1u << request->core);
#endif

    return pthread_attr_init(&how) == 0 && pthread_attr_setinheritsched(&how, PTHREAD_EXPLICIT_SCHED) == 0 &&
           pthread_attr_setschedpolicy(&how, SCHED_FIFO) == 0 && pthread_attr_setschedparam(&how, &is) == 0 &&
           pthread_attr_setstacksize(&how, stack_of(request)) == 0 &&
#ifdef CONFIG_SMP
           pthread_attr_setaffinity_np(&how, sizeof cores, &cores) == 0 &&
#endif
           pthread_create(&task->thread, &how, begin, task) == 0;
}

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    struct port_task *task = &tasks[made];

    if (made == sizeof tasks / sizeof tasks[0]) {
        return false;
    }
    made++;
    task->entry = request->entry;
    task->argument = request->argument;
    *handle = task;
    return port_semaphore_create(&task->notified, 0, 0) && port_semaphore_create(&task->resumed, 0, 0) &&
           port_semaphore_create(&task->started, 0, 0) && make_thread(task, request);
}

/* Lets all tasks start, and waits for ever. The entry task stays, because queues belong to it; it is more urgent than
 * the tasks that it lets start. */
void port_start(void)
{
    static sem_t never;

    for (unsigned i = 0; i < made; i++) {
        (void)sem_post(&tasks[i].started);
    }
    (void)sem_wait(&never);
}

/* Returns the address of a task's control block. */
uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)nxsched_get_tcb((pid_t)task->thread);
}

/* Returns the lowest address of a thread's stack. */
static const uint32_t *lower_end(const struct tcb_s *block)
{
#ifdef NUTTX_WITHOUT_stack_base_ptr
    return (const uint32_t *)((uintptr_t)block->adj_stack_ptr - block->adj_stack_size);
#else
    return block->stack_base_ptr;
#endif
}

/* Returns how many bytes of a task's stack were used at most. The kernel fills a new stack with a value, and keeps data
 * of the thread below it. These data count as used, except for what the stack was made larger for them. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    const struct tcb_s *block = nxsched_get_tcb((pid_t)task->thread);
    const uint32_t *stack = lower_end(block);
    uint32_t untouched = 0;

    while (untouched < block->adj_stack_size && stack[untouched / sizeof *stack] == STACK_COLOUR) {
        untouched += sizeof *stack;
    }
    return untouched < stack_bytes ? stack_bytes - untouched : 0;
}

/* Creates a semaphore with an initial count. Returns false if it fails. Whoever gives need not be who took, so no
 * priority is inherited. The kernel keeps no maximum. */
bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    (void)maximum;
    return sem_init(semaphore, 0, initial) == 0 && sem_setprotocol(semaphore, SEM_PRIO_NONE) == 0;
}

#if KERNEL_SERVICES_MUTEX
/* Creates a mutex with priority inheritance. Returns false if it fails. */
bool port_mutex_create(port_mutex_t *mutex)
{
    pthread_mutexattr_t how;

    return pthread_mutexattr_init(&how) == 0 && pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT) == 0 &&
           pthread_mutex_init(mutex, &how) == 0;
}
#endif

/* Opens a message queue under a new name. Returns -1 if the kernel refuses. */
static mqd_t open_queue(uint32_t length, uint32_t item_bytes)
{
    static unsigned opened;
    struct mq_attr how = {.mq_maxmsg = (long)length, .mq_msgsize = (long)item_bytes};
    char name[] = "queue00";

    name[5] = (char)('0' + (char)(opened / 10u));
    name[6] = (char)('0' + (char)(opened % 10u));
    opened++;
    return mq_open(name, O_RDWR | O_CREAT, 0666, &how);
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. */
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    queue->item_bytes = item_bytes;
    queue->queue = open_queue(length, item_bytes);
    return queue->queue != (mqd_t)-1;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. */
bool port_mailbox_create(port_mailbox_t *mailbox)
{
    *mailbox = open_queue(1, sizeof(void *));
    return *mailbox != (mqd_t)-1;
}

#if KERNEL_SERVICES_HEAP_PEAK
/* Returns the heap's size and its peak, the headers of blocks included. NuttX 13 counts the structure at the begin of
 * the heap twice in the peak and in what it calls taken, but once in the sum of the blocks. Without a correction the
 * peak would be above the size if all is taken, so the difference is subtracted. */
void port_heap_figures(struct port_heap_figures *figures)
{
    size_t unused = mm_heapfree(USR_HEAP);
    struct mallinfo is = mallinfo();

    figures->size_bytes = (uint32_t)is.arena;
    figures->peak_bytes = (uint32_t)((size_t)is.usmblks - ((size_t)is.arena - (size_t)is.uordblks - unused));
}
#endif

/* Returns the free bytes of the heap, its largest free piece, and the number of free pieces. */
void port_heap_free(struct port_heap_free *heap)
{
    struct mallinfo is = mallinfo();

    heap->bytes = (uint32_t)is.fordblks;
    heap->largest_bytes = (uint32_t)is.mxordblk;
    heap->pieces = (uint32_t)is.ordblks;
}

#ifdef NUTTX_WITHOUT_PANIC_WITH_REGS
/* Ends the run with a record of an assertion that failed in NuttX, or of a fault that NuttX cannot handle. It stands in
 * for NuttX's function of this name. */
void _assert(const char *file, int line)
{
    last_words_assert(file == NULL ? "NuttX" : file, (uint32_t)line);
}
#else
/* Ends the run with a record of a fault if NuttX hands over its registers, or else of an assertion that failed in
 * NuttX. It stands in for NuttX's function of this name. */
void _assert(const char *file, int line, const char *message, void *registers)
{
    const uint32_t *saved = registers;

    (void)message;
    if (saved != NULL) {
        last_words_fault(&(struct fault_facts){.kind = "hardfault",
                                               .exception = CPU_EXCEPTION_HARDFAULT,
                                               .pc = saved[REG_PC],
                                               .lr = saved[REG_LR],
                                               .psr = saved[REG_XPSR],
                                               .sp = saved[REG_SP]});
    }
    last_words_assert(file == NULL ? "NuttX" : file, (uint32_t)line);
}
#endif
