/* NuttX behind the port contract: POSIX threads and the kernel's own events, each function one call, inlined away. */
#pragma once

#include <nuttx/config.h>

#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include <nuttx/arch.h>
#include <nuttx/clock.h>
#if KERNEL_SERVICES_EVENT
#include <nuttx/event.h>
#endif
#include <nuttx/irq.h>
#include <nuttx/sched.h>
#include <nuttx/semaphore.h>
#include <nuttx/signal.h>

#define PORT_CONTRACT 3
#define PORT_TICK_HZ (1000000u / CONFIG_USEC_PER_TICK)
/* A benchmark's priorities are above those of NuttX's idle task (0) and default tasks (100), and below that of the
 * entry task, which starts the image (255). */
#define PORT_PRIORITY_LEAST 100u
#define PORT_PRIORITY_MAX 31
#define PORT_PRIORITY(abstract) (PORT_PRIORITY_LEAST + (abstract))
#define PORT_TIME_SLICE_TICKS CONFIG_RR_INTERVAL
/* NuttX gives all interrupts one level, in the middle, and its critical sections mask only that level. */
#define PORT_ISR_URGENCY (0x80u >> (CPU_PRIORITY_FIELD_BITS - BOARD_IRQ_PRIORITY_BITS))
#define PORT_EVENT_BITS 32

/* A thread of NuttX, with the semaphores on which it waits for a notification, for a resume, and for its start. */
struct port_task {
    pthread_t thread;
    sem_t notified, resumed, started;
    void (*entry)(void *argument);
    void *argument;
};

/* A message queue and the bytes of each message, which NuttX wants at each call. */
struct port_queue {
    mqd_t queue;
    size_t item_bytes;
};

typedef struct port_task *port_task_t;
typedef sem_t port_semaphore_t;
typedef pthread_mutex_t port_mutex_t;
typedef pthread_cond_t port_condition_t;
typedef struct port_queue port_queue_t;
typedef mqd_t port_mailbox_t;
#if KERNEL_SERVICES_EVENT
typedef nxevent_t port_event_t;
#endif
typedef irqstate_t port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uintptr_t port_task_address(port_task_t task);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);
bool port_mailbox_create(port_mailbox_t *mailbox);
#if KERNEL_SERVICES_MUTEX
bool port_mutex_create(port_mutex_t *mutex);
#endif
#if KERNEL_SERVICES_HEAP_PEAK
void port_heap_figures(struct port_heap_figures *figures);
#endif
void port_heap_free(struct port_heap_free *heap);

#ifndef this_cpu /* which was no application's before 12.8 */
#ifdef CONFIG_SMP
#define this_cpu() up_cpu_index()
#else
#define this_cpu() 0
#endif
#endif

/* Returns the number of the calling core. */
static inline unsigned port_core(void)
{
    return (unsigned)this_cpu();
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return (uint32_t)clock_systime_ticks();
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
static inline port_critical_t port_critical_enter(void)
{
    return enter_critical_section();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t before)
{
    leave_critical_section(before);
}

/* Does nothing: NuttX calls the handler itself, so it knows that it begins. */
static inline void port_isr_enter(void)
{
}

/* Does nothing: NuttX calls the handler itself, so it knows when it ends. It may then switch tasks. */
static inline void port_isr_exit(void)
{
}

#ifdef NUTTX_WITHOUT_nxsched_abstick_sleep
/* Lets the calling task sleep until the n-th tick from now, or a tick longer. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    (void)nxsig_usleep(ticks * CONFIG_USEC_PER_TICK);
}
#else
/* Lets the calling task sleep until the n-th tick from now. NuttX's other sleeps are a tick longer. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    nxsched_abstick_sleep(clock_systime_ticks() + ticks);
}
#endif

#if KERNEL_SERVICES_SLEEP_UNTIL
/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. NuttX counts ticks in 64 bits, and
 * a sleep until a past tick would last until the next one. So no tick may pass between the look at the clock and the
 * sleep: both are in a critical section, which a thread that sleeps leaves meanwhile. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    irqstate_t before = enter_critical_section();
    clock_t now = clock_systime_ticks();
    int32_t left;

    *tick += ticks;
    left = (int32_t)(*tick - (uint32_t)now);
    if (left > 0) {
        nxsched_abstick_sleep(now + left);
    }
    leave_critical_section(before);
}
#endif

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    (void)sched_yield();
}

/* Gives a notification to a task. */
static inline void port_notify_give(port_task_t task)
{
    (void)sem_post(&task->notified);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    (void)sem_post(&task->notified);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)sem_wait(&self->notified);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)sem_wait(&self->resumed);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)sem_post(&task->resumed);
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    (void)sem_post(&task->resumed);
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return sem_wait(semaphore) == 0;
}

#ifdef NUTTX_WITHOUT_up_saveusercontext /* before 11.0 a wait was told the tick that it counts from */
#define TICKS_FROM_NOW(ticks) clock_systime_ticks(), (ticks)
#else
#define TICKS_FROM_NOW(ticks) (ticks)
#endif

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return nxsem_tickwait(semaphore, TICKS_FROM_NOW(ticks)) == 0;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return sem_post(semaphore) == 0;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)sem_post(semaphore);
}

/* Returns how many takes of a semaphore would succeed now. NuttX's own number is below 0 if tasks wait: it counts
 * them. */
static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    int count;

    (void)sem_getvalue(semaphore, &count);
    return count > 0 ? (uint32_t)count : 0;
}

#if KERNEL_SERVICES_MUTEX
/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return pthread_mutex_lock(mutex) == 0;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return pthread_mutex_unlock(mutex) == 0;
}
#endif

#if KERNEL_SERVICES_CONDITION
/* Creates a condition variable. Returns false if it fails. */
static inline bool port_condition_create(port_condition_t *condition)
{
    return pthread_cond_init(condition, NULL) == 0;
}

/* Releases the mutex, waits for a signal, and locks the mutex again. */
static inline void port_condition_wait(port_condition_t *condition, port_mutex_t *mutex)
{
    (void)pthread_cond_wait(condition, mutex);
}

/* Wakes the most urgent task that waits for a condition variable. */
static inline void port_condition_signal(port_condition_t *condition)
{
    (void)pthread_cond_signal(condition);
}
#endif

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return mq_send(queue->queue, item, queue->item_bytes, 0) == 0;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return mq_receive(queue->queue, item, queue->item_bytes, NULL) >= 0;
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service `mailbox_send_waits`) or returns
 * false. NuttX has no mailbox, so a message queue of one pointer serves as one. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return mq_send(*mailbox, (const char *)&message, sizeof message, 0) == 0;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return mq_receive(*mailbox, (char *)message, sizeof *message, NULL) >= 0;
}

#if KERNEL_SERVICES_EVENT
/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    nxevent_init(event, 0);
    return true;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)nxevent_post(event, bits, 0);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    (void)nxevent_post(event, bits, 0);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)nxevent_clear(event, bits);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    return nxevent_wait(event, bits, 0);
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    return nxevent_tickwait(event, bits, 0, ticks) != 0;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    return nxevent_wait(event, bits, NXEVENT_WAIT_ALL);
}
#endif

/* Returns a task's priority, in the kernel's own numbers. */
static inline uint32_t port_priority_get(port_task_t task)
{
    struct sched_param is;
    int policy;

    (void)pthread_getschedparam(task->thread, &policy, &is);
    return (uint32_t)is.sched_priority;
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    (void)pthread_setschedprio(task->thread, (int)priority);
}

/* Allocates bytes from the kernel's heap. Returns NULL if it has too few left. */
static inline void *port_malloc(size_t bytes)
{
    return malloc(bytes);
}

/* Frees a block of the kernel's heap. */
static inline void port_free(void *block)
{
    free(block);
}
