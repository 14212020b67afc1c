/* One period of each service, chosen by the parameter `service`, in the order of benchmark.toml's [picks]. */
#include "bench_phase.h"

#define SEMAPHORE 0
#define QUEUE 1
#define MAILBOX 2
#define EVENT 3
#define TIMEOUT 4
#define MUTEX 5
#define MUTEX_TIMEOUT 6
#define NOTIFY 7
#define CONDITION 8
#define YIELD 9
#define SLEEP 10
#define HEAP 11
#define PRIORITY_SET 12
#define DYNAMIC_TASKS 13

#define SERVICE BENCH_PARAM_SERVICE

_Static_assert(SERVICE <= DYNAMIC_TASKS, "parameter service: 0 to 13, see [picks] in benchmark.toml");

#if SERVICE == QUEUE
static port_queue_t queues[BENCH_CORES];

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    return port_queue_create(&queues[self->core], 1, 4);
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
    uint32_t sent = self->count, received = ~sent;

    return port_queue_send(&queues[self->core], &sent) && port_queue_receive(&queues[self->core], &received) && received == sent;
}
#elif SERVICE == MAILBOX
static port_mailbox_t mailboxes[BENCH_CORES];

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    return port_mailbox_create(&mailboxes[self->core]);
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
    void *message = NULL;

    return port_mailbox_send(&mailboxes[self->core], self) && port_mailbox_receive(&mailboxes[self->core], &message) && message == self;
}
#elif SERVICE == EVENT
static port_event_t events[BENCH_CORES];

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    return port_event_create(&events[self->core]);
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
    port_event_set(&events[self->core], 1);
    return (port_event_wait_any(&events[self->core], 1) & 1u) != 0;
}
#elif SERVICE == MUTEX || SERVICE == MUTEX_TIMEOUT
static port_mutex_t mutexes[BENCH_CORES];

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    return port_mutex_create(&mutexes[self->core]);
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
#if SERVICE == MUTEX
    return port_mutex_lock(&mutexes[self->core]) && port_mutex_unlock(&mutexes[self->core]);
#else
    return port_mutex_lock_for(&mutexes[self->core], 1) && port_mutex_unlock(&mutexes[self->core]);
#endif
}
#elif SERVICE == CONDITION
static port_condition_t conditions[BENCH_CORES];

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    return port_condition_create(&conditions[self->core]);
}

/* Signals the condition, for which nobody waits. Returns true. */
bool phase_service(struct bench_task *self)
{
    port_condition_signal(&conditions[self->core]);
    return true;
}
#elif SERVICE == HEAP
/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
    void *block = port_malloc(32);

    (void)self;
    port_free(block);
    return block != NULL;
}
#elif SERVICE == SEMAPHORE || SERVICE == TIMEOUT
static port_semaphore_t semaphores[BENCH_CORES];

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    return port_semaphore_create(&semaphores[self->core], 1, 0);
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
#if SERVICE == SEMAPHORE
    return port_semaphore_give(&semaphores[self->core]) && port_semaphore_take(&semaphores[self->core]);
#else
    return port_semaphore_give(&semaphores[self->core]) && port_semaphore_take_for(&semaphores[self->core], 1);
#endif
}
#elif SERVICE == DYNAMIC_TASKS
/* Ends the run with an error: it is the function of a task that is deleted before it can run. */
static noreturn void never(void *argument)
{
    (void)argument;
    bench_error(ERROR_PREPARE, "a task ran that should have been deleted before");
}

/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Creates a task and deletes it. Returns false if it could not be created. The task is less urgent than its maker,
 * so it does not run before. */
bool phase_service(struct bench_task *self)
{
    port_task_t task;
    const struct port_task_request request = {
        .name = "never",
        .entry = never,
        .argument = NULL,
        .priority = 0,
        .core = self->core,
        .stack_bytes = 512,
    };

    if (!port_task_spawn(&task, &request)) {
        return false;
    }
    port_task_delete(task);
    return true;
}
#else
/* Creates the kernel object that the chosen service needs. Returns false if that fails. */
static bool make(struct bench_task *self)
{
    (void)self;
    return true;
}

/* Calls the chosen service once. Returns false if it failed. */
bool phase_service(struct bench_task *self)
{
#if SERVICE == NOTIFY
    port_notify_give(self->handle);
    port_notify_take(self->handle);
#elif SERVICE == YIELD /* there is nobody of the same priority */
    (void)self;
    port_yield();
#elif SERVICE == SLEEP
    (void)self;
    port_sleep_ticks(1);
#elif SERVICE == PRIORITY_SET
    port_priority_set(self->handle, PORT_PRIORITY(0));
    port_priority_set(self->handle, PORT_PRIORITY(self->priority));
#endif
    return true;
}
#endif

port_semaphore_t raised[BENCH_CORES];

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the interrupt that the sweep raises: wakes the waiting task of this core. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    port_semaphore_give_from_isr(&raised[port_core()]);
    port_isr_exit();
}

/* Enables the interrupt and creates the kernel objects of this core. Returns false if that fails. */
bool phase_prepare(struct bench_task *self)
{
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return port_semaphore_create(&raised[self->core], 1, 0) && make(self);
}
