/* ChibiOS/RT behind the port contract. Each function is one call of the kernel, inlined away. Where the kernel's own
 * function is inline (chVTGetSystemTimeX), so is the service. */
#pragma once

#include <ch.h>

#define PORT_CONTRACT 3
#define PORT_TICK_HZ CH_CFG_ST_FREQUENCY
/* Of the kernel's numbers, 1 is the idle thread's, 2 the least urgent for applications and 255 the most. The last is that
 * of the thread that starts the others. */
#define PORT_PRIORITY_MAX (HIGHPRIO - 1 - LOWPRIO)
#define PORT_PRIORITY(abstract) ((uint32_t)LOWPRIO + (abstract))
#define PORT_TIME_SLICE_TICKS CH_CFG_TIME_QUANTUM
/* ARMv7-M masks by level. ARMv6-M masks everything, but the most urgent level is PendSV's alone. */
#define PORT_ISR_URGENCY CORTEX_MAX_KERNEL_PRIORITY
/* The one event of a thread that is given and taken. */
#define PORT_NOTIFIED EVENT_MASK(0)

typedef thread_t *port_task_t;
typedef semaphore_t port_semaphore_t;
typedef mutex_t port_mutex_t;
typedef condition_variable_t port_condition_t;
typedef mailbox_t port_pointer_queue_t;
typedef memory_pool_t port_pool_t;
typedef uint32_t port_critical_t;
/* A mailbox, and its one slot. */
typedef struct {
    mailbox_t kernels;
    msg_t slot;
} port_mailbox_t;

extern memory_heap_t port_heap;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);
void port_heap_free(struct port_heap_free *free);

/* Returns the number of the calling core. */
static inline unsigned port_core(void)
{
#if BENCH_CORES > 1
    return port_get_core_id();
#else
    return 0;
#endif
}

/* Returns the number of the kernel's present tick. With two cores, it is the tick of the calling core. */
static inline uint32_t port_tick_now(void)
{
    return chVTGetSystemTimeX();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* The kernel's critical zone, which can be entered from a thread or a handler, and in another critical zone. With two cores
 * it takes the kernel's spinlock. */
static inline port_critical_t port_critical_enter(void)
{
    return chSysGetStatusAndLockX();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t entered)
{
    chSysRestoreStatusX(entered);
}

/* On ARMv6-M the kernel's end of a handler must know the value with which the handler returns. It is the return address
 * of the function in which these two are expanded, so they must be expanded. */
__attribute__((always_inline)) static inline void port_isr_enter(void)
{
    CH_IRQ_PROLOGUE();
#if CORTEX_MODEL == 0
    (void)_saved_lr;
#endif
}

/* Tells the kernel that the handler ends. It may then switch tasks. */
__attribute__((always_inline)) static inline void port_isr_exit(void)
{
#if CORTEX_MODEL == 0
    PORT_IRQ_PROLOGUE();
#endif

    CH_IRQ_EPILOGUE();
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    chThdSleep(ticks);
}

/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    *tick = chThdSleepUntilWindowed(*tick, *tick + ticks);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    chThdYield();
}

/* Gives a notification to a task: an event of its own. */
static inline void port_notify_give(port_task_t task)
{
    chEvtSignal(task, PORT_NOTIFIED);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    chSysLockFromISR();
    chEvtSignalI(task, PORT_NOTIFIED);
    chSysUnlockFromISR();
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)self; /* a thread waits for its own events */
    (void)chEvtWaitAny(PORT_NOTIFIED);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    chSysLock();
    (void)chThdSuspendS(&self->suspended);
    chSysUnlock();
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    chThdResume(&task->suspended, MSG_OK);
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    chSysLockFromISR();
    chThdResumeI(&task->suspended, MSG_OK);
    chSysUnlockFromISR();
}

/* The kernel keeps no maximum. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    (void)maximum;
    chSemObjectInit(semaphore, (cnt_t)initial);
    return true;
}

/* Takes a semaphore, and waits for as long as its count is 0. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return chSemWait(semaphore) == MSG_OK;
}

/* Takes a semaphore, and waits until the n-th tick at most. False if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return chSemWaitTimeout(semaphore, ticks) == MSG_OK;
}

/* Gives a semaphore, and wakes a waiter. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    chSemSignal(semaphore);
    return true;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    chSysLockFromISR();
    chSemSignalI(semaphore);
    chSysUnlockFromISR();
}

/* Creates a mutex. Every mutex of the kernel has priority inheritance. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    chMtxObjectInit(mutex);
    return true;
}

/* Locks a mutex, and waits for as long as another task holds it. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    chMtxLock(mutex);
    return true;
}

/* Unlocks a mutex that the calling task holds. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    chMtxUnlock(mutex);
    return true;
}

/* Creates a condition variable. */
static inline bool port_condition_create(port_condition_t *condition)
{
    chCondObjectInit(condition);
    return true;
}

/* Waits for a condition variable. The mutex is the one that the caller has locked last. */
static inline void port_condition_wait(port_condition_t *condition, port_mutex_t *mutex)
{
    (void)mutex;
    (void)chCondWait(condition);
}

/* Wakes the most urgent waiter of a condition variable. */
static inline void port_condition_signal(port_condition_t *condition)
{
    chCondSignal(condition);
}

/* Sends a pointer through a queue, without waiting. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    return chMBPostTimeout(queue, (msg_t)pointer, TIME_IMMEDIATE) == MSG_OK;
}

/* Waits for a pointer from a queue. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    return chMBFetchTimeout(queue, (msg_t *)pointer, TIME_INFINITE) == MSG_OK;
}

/* Creates a mailbox for one pointer. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    chMBObjectInit(&mailbox->kernels, &mailbox->slot, 1);
    return true;
}

/* Puts a pointer into a mailbox. Waits, or returns false (service `mailbox_send_waits`). */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return chMBPostTimeout(&mailbox->kernels, (msg_t)message, TIME_INFINITE) == MSG_OK;
}

/* Waits for a pointer in a mailbox, and takes it out. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return chMBFetchTimeout(&mailbox->kernels, (msg_t *)message, TIME_INFINITE) == MSG_OK;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. False if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return chMBFetchTimeout(&mailbox->kernels, (msg_t *)message, ticks) == MSG_OK;
}

/* Takes a block from a pool, without waiting. NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    return chPoolAlloc(pool);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    chPoolFree(pool, block);
}

/* Returns a block of memory from the kernel's heap. NULL if there is none. */
static inline void *port_malloc(size_t bytes)
{
    return chHeapAlloc(&port_heap, bytes);
}

/* Returns a block to the kernel's heap. */
static inline void port_free(void *block)
{
    chHeapFree(block);
}
