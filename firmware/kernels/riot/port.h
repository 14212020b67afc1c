/* RIOT behind the port contract. Each function is one call of the kernel, inlined away. Where the kernel's own function is
 * inline (irq_disable), so is the service. */
#pragma once

#include <cpu.h>
#include <irq.h>
#include <mbox.h>
#include <sema.h>
#include <thread.h>
#include <thread_flags.h>
#include <ztimer.h>

#define PORT_CONTRACT 3
/* RIOT has no tick. Its times are those of a clock, which belongs to a CPU's part of RIOT; the port's counts ticks. */
#define PORT_TICK_HZ 1000
/* The least urgent of the kernel's numbers is for an idle thread. */
#define PORT_PRIORITY_MAX (SCHED_PRIO_LEVELS - 2)
#define PORT_PRIORITY(abstract) ((uint32_t)PORT_PRIORITY_MAX - (abstract))
#define PORT_TIME_SLICE_TICKS 0
#define PORT_ISR_URGENCY 0
/* The one flag of a thread that is given and taken. */
#define PORT_NOTIFIED ((thread_flags_t)1)

typedef thread_t *port_task_t;
typedef sema_t port_semaphore_t;
typedef mbox_t port_pointer_queue_t;
typedef unsigned port_critical_t;
/* A mailbox, and its one slot. */
typedef struct {
    mbox_t kernels;
    msg_t slot;
} port_mailbox_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length);

/* Returns the number of the calling core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the present tick. */
static inline uint32_t port_tick_now(void)
{
    return ztimer_now(ZTIMER_MSEC);
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* Masks all interrupts, as the kernel does. */
static inline port_critical_t port_critical_enter(void)
{
    return irq_disable();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t entered)
{
    irq_restore(entered);
}

/* The kernel needs nothing at the begin of a handler. */
static inline void port_isr_enter(void)
{
}

/* Requests the switch that the kernel has found necessary in the handler. */
static inline void port_isr_exit(void)
{
    cortexm_isr_end();
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    ztimer_sleep(ZTIMER_MSEC, ticks);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    thread_yield();
}

/* Gives a notification to a task: a flag of its own. */
static inline void port_notify_give(port_task_t task)
{
    thread_flags_set(task, PORT_NOTIFIED);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    thread_flags_set(task, PORT_NOTIFIED);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)self; /* a thread waits for its own flags */
    (void)thread_flags_wait_any(PORT_NOTIFIED);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)self; /* a thread suspends itself only */
    thread_sleep();
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)thread_wakeup(thread_getpid_of(task));
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    (void)thread_wakeup(thread_getpid_of(task));
}

/* Changes a task's priority. If it becomes more urgent than the caller, it preempts the caller. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    sched_change_priority(task, (uint8_t)priority);
}

/* The kernel keeps no maximum. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    (void)maximum;
    sema_create(semaphore, initial);
    return true;
}

/* Takes a semaphore, and waits for as long as its count is 0. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return sema_wait(semaphore) == 0;
}

/* Takes a semaphore, and waits until the n-th tick at most. False if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return sema_wait_timed_ztimer(semaphore, ZTIMER_MSEC, ticks) == 0;
}

/* Gives a semaphore, and wakes a waiter. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return sema_post(semaphore) == 0;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)sema_post(semaphore);
}

/* Sends a pointer through a queue, without waiting. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    msg_t message = {.content = {.ptr = pointer}};

    return mbox_try_put(queue, &message) == 1;
}

/* Waits for a pointer from a queue. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    msg_t message;

    mbox_get(queue, &message);
    *pointer = message.content.ptr;
    return true;
}

/* Creates a mailbox for one pointer. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    mbox_init(&mailbox->kernels, &mailbox->slot, 1);
    return true;
}

/* Puts a pointer into a mailbox. Waits, or returns false (service `mailbox_send_waits`). */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *pointer)
{
    msg_t message = {.content = {.ptr = pointer}};

    mbox_put(&mailbox->kernels, &message);
    return true;
}

/* Waits for a pointer in a mailbox, and takes it out. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **pointer)
{
    msg_t message;

    mbox_get(&mailbox->kernels, &message);
    *pointer = message.content.ptr;
    return true;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. False if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **pointer, uint32_t ticks)
{
    msg_t message;

    if (ztimer_mbox_get_timeout(ZTIMER_MSEC, &mailbox->kernels, &message, ticks) != 0) {
        return false;
    }
    *pointer = message.content.ptr;
    return true;
}
