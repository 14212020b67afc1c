/* RT-Thread behind the port contract. Each function is the kernel's own calls for the purpose, inlined away. */
#pragma once

#include <rthw.h>
#include <rtthread.h>

#define PORT_CONTRACT 3
#define PORT_TICK_HZ RT_TICK_PER_SECOND
/* In this kernel priority 0 is the most urgent, and the last one belongs to the idle thread. */
#define PORT_PRIORITY_MAX (RT_THREAD_PRIORITY_MAX - 2)
#define PORT_PRIORITY(abstract) ((uint32_t)PORT_PRIORITY_MAX - (abstract))
/* Slices cannot be switched off: each thread's lasts for 2^32 - 1 ticks. */
#define PORT_TIME_SLICE_TICKS 0
/* RT-Thread masks every interrupt while it works, so a handler of any level may call it. */
#define PORT_ISR_URGENCY 0
#define PORT_EVENT_BITS 32

/* A message queue and the bytes of its items, which the kernel wants at every call. */
struct port_queue {
    struct rt_messagequeue kernels;
    rt_size_t item_bytes;
};

struct port_mailbox {
    struct rt_mailbox kernels;
    rt_ubase_t room;
};

typedef struct rt_thread *port_task_t;
typedef struct rt_semaphore port_semaphore_t;
typedef struct rt_mutex port_mutex_t;
typedef struct port_queue port_queue_t;
typedef struct rt_mailbox port_pointer_queue_t;
typedef struct port_mailbox port_mailbox_t;
typedef struct rt_event port_event_t;
typedef struct rt_mempool port_pool_t;
typedef rt_base_t port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return rt_tick_get();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
static inline port_critical_t port_critical_enter(void)
{
    return rt_hw_interrupt_disable();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t before)
{
    rt_hw_interrupt_enable(before);
}

/* Tells the kernel that a handler which calls it begins. */
static inline void port_isr_enter(void)
{
    rt_interrupt_enter();
}

/* Tells the kernel that the handler ends. It may then switch tasks. */
static inline void port_isr_exit(void)
{
    rt_interrupt_leave();
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    (void)rt_thread_delay(ticks);
}

/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    rt_tick_t from = *tick;

    (void)rt_thread_delay_until(&from, ticks);
    *tick += ticks; /* `from` is the tick at which the call came back: with it, every delay would stay in the period */
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    (void)rt_thread_yield();
}

/* Suspends the calling task. The kernel's call only changes lists, so its manual wants the scheduler called after
 * it. */
static inline void port_suspend_self(port_task_t self)
{
    (void)rt_thread_suspend(self);
    rt_schedule();
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    (void)rt_thread_suspend(task);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)rt_thread_resume(task);
    rt_schedule();
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    (void)rt_thread_resume(task);
    rt_schedule();
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    rt_uint8_t number = (rt_uint8_t)priority;

    (void)rt_thread_control(task, RT_THREAD_CTRL_CHANGE_PRIORITY, &number);
    rt_schedule();
}

/* Creates a semaphore with an initial count. Returns false if it fails. The kernel keeps no maximum. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    (void)maximum;
    return rt_sem_init(semaphore, "", initial, RT_IPC_FLAG_PRIO) == RT_EOK;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return rt_sem_take(semaphore, RT_WAITING_FOREVER) == RT_EOK;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return rt_sem_take(semaphore, (rt_int32_t)ticks) == RT_EOK;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return rt_sem_release(semaphore) == RT_EOK;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)rt_sem_release(semaphore);
}

/* Creates a mutex with priority inheritance. Returns false if it fails. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    return rt_mutex_init(mutex, "", RT_IPC_FLAG_PRIO) == RT_EOK;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return rt_mutex_take(mutex, RT_WAITING_FOREVER) == RT_EOK;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return rt_mutex_take(mutex, (rt_int32_t)ticks) == RT_EOK;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return rt_mutex_release(mutex) == RT_EOK;
}

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return rt_mq_send_wait(&queue->kernels, item, queue->item_bytes, RT_WAITING_FOREVER) == RT_EOK;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return rt_mq_recv(&queue->kernels, item, queue->item_bytes, RT_WAITING_FOREVER) == RT_EOK;
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    return rt_mq_send(&queue->kernels, item, queue->item_bytes) == RT_EOK;
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    return rt_mq_recv(&queue->kernels, item, queue->item_bytes, 0) == RT_EOK;
}

/* Sends a pointer through a queue, without waiting. Returns false if the queue is full. The kernel's mailbox contains
 * as many words as it was created for, so it serves as a queue of pointers. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    return rt_mb_send(queue, (rt_ubase_t)pointer) == RT_EOK;
}

/* Waits for a pointer from a queue. Returns false if the kernel refuses. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    return rt_mb_recv(queue, (rt_ubase_t *)pointer, RT_WAITING_FOREVER) == RT_EOK;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return rt_mb_init(&mailbox->kernels, "", &mailbox->room, 1, RT_IPC_FLAG_PRIO) == RT_EOK;
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return rt_mb_send_wait(&mailbox->kernels, (rt_ubase_t)message, RT_WAITING_FOREVER) == RT_EOK;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return rt_mb_recv(&mailbox->kernels, (rt_ubase_t *)message, RT_WAITING_FOREVER) == RT_EOK;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return rt_mb_recv(&mailbox->kernels, (rt_ubase_t *)message, (rt_int32_t)ticks) == RT_EOK;
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    return rt_event_init(event, "", RT_IPC_FLAG_PRIO) == RT_EOK;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)rt_event_send(event, bits);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    (void)rt_event_send(event, bits);
}

/* Clears bits of an event group. The kernel has no call for that: it clears bits when they are received. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)rt_event_recv(event, bits, RT_EVENT_FLAG_OR | RT_EVENT_FLAG_CLEAR, 0, RT_NULL);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    rt_uint32_t matched = 0;

    (void)rt_event_recv(event, bits, RT_EVENT_FLAG_OR | RT_EVENT_FLAG_CLEAR, RT_WAITING_FOREVER, &matched);
    return matched;
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    rt_uint32_t matched;

    return rt_event_recv(event, bits, RT_EVENT_FLAG_OR | RT_EVENT_FLAG_CLEAR, (rt_int32_t)ticks, &matched) == RT_EOK;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    rt_uint32_t matched = 0;

    (void)rt_event_recv(event, bits, RT_EVENT_FLAG_AND | RT_EVENT_FLAG_CLEAR, RT_WAITING_FOREVER, &matched);
    return matched;
}

/* Allocates bytes from the kernel's heap. Returns NULL if it has too few left. */
static inline void *port_malloc(size_t bytes)
{
    return rt_malloc(bytes);
}

/* Frees a block of the kernel's heap. */
static inline void port_free(void *block)
{
    rt_free(block);
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    return rt_mp_alloc(pool, 0);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    (void)pool; /* the block itself knows */
    rt_mp_free(block);
}
