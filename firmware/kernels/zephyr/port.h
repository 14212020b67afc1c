/* Zephyr behind the port contract: each function one call of the kernel's own interface, inlined away. */
#pragma once

#include <version.h>

#ifdef ZEPHYR_WITHOUT_k_timeout_t
#include "earlier.h"
#else
#if __has_include(<zephyr/kernel.h>)
#include <zephyr/kernel.h>
#else /* before 3.1 */
#include <kernel.h>
#endif

/* Returns whether a call did what was asked. */
#define PORT_DONE(call) ((call) == 0)
#endif

#define PORT_CONTRACT 3
#define PORT_TICK_HZ CONFIG_SYS_CLOCK_TICKS_PER_SEC
/* In Zephyr the smallest number is the most urgent priority. A thread with one below 0 is not preempted. */
#define PORT_PRIORITY_MAX (CONFIG_NUM_PREEMPT_PRIORITIES - 1)
#define PORT_PRIORITY(abstract) ((uint32_t)(PORT_PRIORITY_MAX - (abstract)))
#define PORT_TIME_SLICE_TICKS 0
/* Where critical sections raise BASEPRI, they do so to the level below the kernel's own supervisor calls. */
#ifdef CONFIG_CPU_CORTEX_M_HAS_BASEPRI
#define PORT_ISR_URGENCY 1u
#else
#define PORT_ISR_URGENCY 0u
#endif

/* A thread of Zephyr with a semaphore for notifications. */
struct port_task {
    struct k_thread thread;
    struct k_sem notified;
    void (*entry)(void *argument);
    void *argument;
};

typedef struct port_task *port_task_t;
typedef struct k_sem port_semaphore_t;
typedef struct k_mutex port_mutex_t;
#if KERNEL_SERVICES_CONDITION
typedef struct k_condvar port_condition_t;
#endif
typedef struct k_msgq port_queue_t;
typedef struct k_msgq port_mailbox_t;
typedef struct k_mem_slab port_pool_t;
typedef unsigned int port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);
bool port_mailbox_create(port_mailbox_t *mailbox);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return (uint32_t)k_uptime_ticks();
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
static inline port_critical_t port_critical_enter(void)
{
    return irq_lock();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t before)
{
    irq_unlock(before);
}

/* Does nothing: Zephyr's entry code calls the handler, so Zephyr knows that it begins. */
static inline void port_isr_enter(void)
{
}

/* Does nothing: Zephyr's entry code calls the handler, so Zephyr knows when it ends. It may then switch tasks. */
static inline void port_isr_exit(void)
{
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)&task->thread;
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    (void)k_sleep(K_TICKS(ticks));
}

#if KERNEL_SERVICES_SLEEP_UNTIL
/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. Zephyr counts ticks in 64 bits,
 * and a sleep until a past tick would last until the next one. So no tick may pass between the look at the clock and
 * the sleep: interrupts are locked. A thread that sleeps lets them in, and finds them locked when it goes on. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    unsigned int before = irq_lock();
    int64_t now = sys_clock_tick_get();
    int32_t left;

    *tick += ticks;
    left = (int32_t)(*tick - (uint32_t)now);
    if (left > 0) {
        (void)k_sleep(K_TIMEOUT_ABS_TICKS(now + left));
    }
    irq_unlock(before);
}
#endif

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    k_yield();
}

/* Gives a notification to a task. */
static inline void port_notify_give(port_task_t task)
{
    k_sem_give(&task->notified);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    k_sem_give(&task->notified);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)k_sem_take(&self->notified, K_FOREVER);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    k_thread_suspend(&self->thread);
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    k_thread_suspend(&task->thread);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    k_thread_resume(&task->thread);
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    k_thread_resume(&task->thread);
}

/* Creates a semaphore with a maximum and an initial count. Returns false if it fails. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    return PORT_DONE(k_sem_init(semaphore, initial, maximum));
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return k_sem_take(semaphore, K_FOREVER) == 0;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return k_sem_take(semaphore, K_TICKS(ticks)) == 0;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns true: Zephyr does not tell whether the
 * semaphore was at its limit. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    k_sem_give(semaphore);
    return true;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    k_sem_give(semaphore);
}

/* Creates a mutex with priority inheritance. Returns false if it fails. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    return PORT_DONE(k_mutex_init(mutex));
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return k_mutex_lock(mutex, K_FOREVER) == 0;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return k_mutex_lock(mutex, K_TICKS(ticks)) == 0;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return PORT_DONE(k_mutex_unlock(mutex));
}

#if KERNEL_SERVICES_CONDITION
/* Creates a condition variable. Returns false if it fails. */
static inline bool port_condition_create(port_condition_t *condition)
{
    return k_condvar_init(condition) == 0;
}

/* Releases the mutex, waits for a signal, and locks the mutex again. */
static inline void port_condition_wait(port_condition_t *condition, port_mutex_t *mutex)
{
    (void)k_condvar_wait(condition, mutex, K_FOREVER);
}

/* Wakes the most urgent task that waits for a condition variable. */
static inline void port_condition_signal(port_condition_t *condition)
{
    (void)k_condvar_signal(condition);
}
#endif

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return k_msgq_put(queue, (void *)item, K_FOREVER) == 0;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return k_msgq_get(queue, item, K_FOREVER) == 0;
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    return k_msgq_put(queue, (void *)item, K_NO_WAIT) == 0;
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    return k_msgq_get(queue, item, K_NO_WAIT) == 0;
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service `mailbox_send_waits`) or returns
 * false. What Zephyr calls a mailbox is a meeting of two threads, so a message queue of one pointer serves here. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return k_msgq_put(mailbox, &message, K_FOREVER) == 0;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return k_msgq_get(mailbox, message, K_FOREVER) == 0;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return k_msgq_get(mailbox, message, K_TICKS(ticks)) == 0;
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    void *block;

    return k_mem_slab_alloc(pool, &block, K_NO_WAIT) == 0 ? block : NULL;
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
#if KERNEL_VERSION_NUMBER < 0x30500
    k_mem_slab_free(pool, &block);
#else
    k_mem_slab_free(pool, block);
#endif
}

/* Returns a task's priority, in the kernel's own numbers. */
static inline uint32_t port_priority_get(port_task_t task)
{
    return (uint32_t)k_thread_priority_get(&task->thread);
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    k_thread_priority_set(&task->thread, (int)priority);
}

/* Allocates bytes from the kernel's heap. Returns NULL if it has too few left. */
static inline void *port_malloc(size_t bytes)
{
    return k_malloc(bytes);
}

/* Frees a block of the kernel's heap. */
static inline void port_free(void *block)
{
    k_free(block);
}
