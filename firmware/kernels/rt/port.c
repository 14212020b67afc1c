/* rt behind the port contract: what is never measured.
 *
 * An application of rt defines its tasks and queues where they are used, and constructors hand the tasks over before
 * rt_start(). The benchmarks ask for them by calls before port_start(), so their memory is cut from one array here and
 * filled in as rt's own initialisers would. */
#include <string.h>

#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_pieces.h"

#include <rt/abort.h>
#include <rt/panic.h>
#include <rt/start.h>

#define STACK_FILL 0xA5u

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / RT_TICK_RATE_HZ)

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "RT_TICK_RATE_HZ is out of SysTick's range");

void isr_systick(void);

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    size_t stack_bytes = RT_STACK_SIZE(request->stack_bytes);
    struct port_task *made = cut(sizeof *made);
    unsigned char *stack = cut(stack_bytes);

    if (made == NULL || stack == NULL || request->core != 0 || request->priority > PORT_PRIORITY_MAX) {
        return false;
    }
    memset(stack, STACK_FILL, stack_bytes);
    made->task = (struct rt_task)RT_TASK_INIT(made->task, request->name, (uint32_t)PORT_PRIORITY_MAX - request->priority);
    made->notification = (struct rt_notify)RT_NOTIFY_INIT(made->notification, 0);
    made->task.fn.uintptr = (uintptr_t)request->entry;
    made->task.arg = (uintptr_t)request->argument;
    made->task.stack = stack;
    made->task.stack_size = stack_bytes;
    made->task.ctx = rt_context_init(made->task.fn.uintptr, made->task.arg, stack, stack_bytes);
    rt_task_init(&made->task);
    *handle = made;
    return true;
}

/* Returns how many bytes of a task's stack were used at most. rt keeps no mark of its own; the fill shows how far
 * the stack has been used. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - untouched_bytes(task->task.stack, stack_bytes, STACK_FILL);
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. It does what RT_QUEUE's
 * initialiser does for a length and an item size that are constants. */
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    rt_atomic_uchar *slots = cut(length);
    void *items = cut((size_t)length * item_bytes);

    if (slots == NULL || items == NULL || length > RT_QUEUE_MAX_SIZE) {
        return false;
    }
    memset((void *)slots, 0, length);
    *queue = (struct rt_queue)RT_QUEUE_INIT(*queue, char, length, slots, items);
    queue->elem_size = item_bytes;
    return true;
}

extern void (*__init_array_start[])(void);
extern void (*__init_array_end[])(void);

/* Starts the kernel. Does not return. A constructor creates rt's own task (idle), and rt_start unmasks interrupts when
 * the first task is in place. */
void port_start(void)
{
    (void)cpu_mask_interrupts();
    for (void (**constructor)(void) = __init_array_start; constructor < __init_array_end; constructor++) {
        (*constructor)();
    }
    CPU_SCB_SHPR2 = CPU_SHPR2_SVCALL(CPU_LEAST_URGENT);
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT) | CPU_SHPR3_PENDSV(CPU_LEAST_URGENT);
    cpu_systick_start(TICK_CYCLES);
    rt_start();
}

/* Handles the tick: advances the kernel's time. */
void isr_systick(void)
{
    rt_tick_advance();
}

/* Ends the run with a record of a broken precondition that rt has found. */
noreturn void rt_panic(const char *message)
{
    last_words_assert(message, 0);
}

/* Ends the run with an error. rt calls it if a task comes back after its end. */
noreturn void rt_abort(void)
{
    last_words_error(ERROR_TASK_RETURNED, "rt gave up: a task came back after its end");
}
