/* rt behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include <limits.h>

#include <rt/cond.h>
#include <rt/event.h>
#include <rt/mutex.h>
#include <rt/notify.h>
#include <rt/queue.h>
#include <rt/sem.h>
#include <rt/task.h>
#include <rt/tick.h>

#include "bench_cpu.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ RT_TICK_RATE_HZ
/* In rt priority 0 is the most urgent, and 31 belongs to the idle task. */
#define PORT_PRIORITY_MAX 30
#define PORT_TIME_SLICE_TICKS KERNEL_TIME_SLICE_TICKS
/* rt never masks interrupts for longer than an atomic operation, so a handler of any level may call it. */
#define PORT_ISR_URGENCY 0
/* rt uses the three most significant bits itself. */
#define PORT_EVENT_BITS 29

/* A task, and the notification that an application would define beside it. rt's structure comes first, so a pointer to
 * one is a pointer to the other. */
struct port_task {
    struct rt_task task;
    struct rt_notify notification;
};

typedef struct port_task *port_task_t;
typedef uint32_t port_critical_t;
typedef struct rt_sem port_semaphore_t;
typedef struct rt_mutex port_mutex_t;
typedef struct rt_cond port_condition_t;
typedef struct rt_queue port_queue_t;
typedef struct rt_queue port_mailbox_t;
typedef struct rt_event port_event_t;

bool port_task_create(port_task_t *task, const struct port_task_request *request);
void port_start(void);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);

/* Does nothing: rt needs no preparation. */
static inline void port_prepare(void)
{
}

/* Does nothing: rt need not know that a handler begins. */
static inline void port_isr_enter(void)
{
}

/* Does nothing: rt need not know that a handler ends. */
static inline void port_isr_exit(void)
{
}

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return rt_tick_count();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)&task->task;
}

/* Enters a critical section: masks interrupts. Returns the state for `port_critical_exit`. rt offers no critical
 * section, because its objects need none. Its calls must not stand inside this one. */
static inline port_critical_t port_critical_enter(void)
{
    return cpu_mask_interrupts();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t entered)
{
    cpu_restore_interrupts(entered);
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    rt_task_sleep(ticks);
}

/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    rt_task_sleep_periodic(tick, ticks);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    rt_task_yield();
}

/* Gives a notification to a task. */
static inline void port_notify_give(port_task_t task)
{
    rt_notify_post(&task->notification);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    rt_notify_post(&task->notification);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)self;
    (void)rt_notify_wait(&((struct port_task *)rt_active_task)->notification);
}

/* Creates a semaphore with a maximum and an initial count. Returns false if it fails. An object of rt is initialised
 * where it is defined; this is the same initialiser, applied later. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    *semaphore = (struct rt_sem)RT_SEM_INIT_MAX(*semaphore, (int)initial, (int)maximum);
    return maximum <= INT_MAX;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    rt_sem_wait(semaphore); /* cannot fail */
    return true;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return rt_sem_timedwait(semaphore, ticks);
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    rt_sem_post(semaphore); /* a full one stays full; nobody is told */
    return true;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    rt_sem_post_from_interrupt(semaphore);
}

/* Creates a mutex with priority inheritance. Returns false if it fails. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    *mutex = (struct rt_mutex)RT_MUTEX_INIT(*mutex);
    return true;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    rt_mutex_lock(mutex); /* cannot fail */
    return true;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return rt_mutex_timedlock(mutex, ticks);
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    rt_mutex_unlock(mutex); /* cannot fail */
    return true;
}

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    rt_queue_push(queue, item); /* cannot fail */
    return true;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    rt_queue_pop(queue, item); /* cannot fail */
    return true;
}

/* Creates a condition variable. Returns false if it fails. */
static inline bool port_condition_create(port_condition_t *condition)
{
    *condition = (struct rt_cond)RT_COND_INIT(*condition);
    return true;
}

/* Releases the mutex, waits for a signal, and locks the mutex again. */
static inline void port_condition_wait(port_condition_t *condition, port_mutex_t *mutex)
{
    rt_cond_wait(condition, mutex);
}

/* Wakes the most urgent task that waits for a condition variable. */
static inline void port_condition_signal(port_condition_t *condition)
{
    rt_cond_signal(condition);
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    return rt_queue_trypush(queue, item);
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    return rt_queue_trypop(queue, item);
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. rt has no mailbox, so a queue
 * of one item serves as one. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return port_queue_create(mailbox, 1, sizeof(void *));
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    rt_queue_push(mailbox, &message); /* cannot fail */
    return true;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    rt_queue_pop(mailbox, message); /* cannot fail */
    return true;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return rt_queue_timedpop(mailbox, message, ticks);
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    *event = (struct rt_event)RT_EVENT_INIT(*event);
    return true;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)rt_event_set(event, bits);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    (void)rt_event_set_from_interrupt(event, bits);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)rt_event_clear(event, bits);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    return rt_event_wait(event, bits);
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    return (rt_event_timedwait(event, bits, ticks) & bits) != 0;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    return rt_event_wait(event, bits | RT_EVENT_WAIT_ALL);
}
