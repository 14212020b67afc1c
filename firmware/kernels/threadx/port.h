/* ThreadX behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include "tx_api.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ TX_TIMER_TICKS_PER_SECOND
/* In ThreadX priority 0 is the most urgent. No idle thread needs the last one. */
#define PORT_PRIORITY_MAX (TX_MAX_PRIORITIES - 1)
#define PORT_PRIORITY(abstract) ((uint32_t)PORT_PRIORITY_MAX - (abstract))
#define PORT_TIME_SLICE_TICKS 0
#define PORT_HEAP_ALIGN_BYTES 4u
/* ThreadX masks every interrupt while it works, so a handler of any level may call it. */
#define PORT_ISR_URGENCY 0
#define PORT_EVENT_BITS 32

typedef TX_THREAD *port_task_t;
typedef TX_SEMAPHORE port_semaphore_t;
typedef TX_MUTEX port_mutex_t;
typedef TX_QUEUE port_queue_t;
typedef TX_QUEUE port_mailbox_t;
typedef TX_EVENT_FLAGS_GROUP port_event_t;
typedef TX_BLOCK_POOL port_pool_t;
typedef UINT port_critical_t;

extern TX_BYTE_POOL port_heap;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return tx_time_get();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
static inline port_critical_t port_critical_enter(void)
{
    return tx_interrupt_control(TX_INT_DISABLE);
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t before)
{
    (void)tx_interrupt_control(before);
}

/* Does nothing: the kernel need not know that a handler begins. */
static inline void port_isr_enter(void)
{
}

/* Does nothing: the kernel need not know that a handler ends. */
static inline void port_isr_exit(void)
{
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    (void)tx_thread_sleep(ticks);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    tx_thread_relinquish();
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)tx_thread_suspend(self);
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    (void)tx_thread_suspend(task);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)tx_thread_resume(task);
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    (void)tx_thread_resume(task);
}

/* Creates a semaphore with an initial count. Returns false if it fails. The kernel keeps no maximum. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    (void)maximum;
    return tx_semaphore_create(semaphore, (CHAR *)"", initial) == TX_SUCCESS;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return tx_semaphore_get(semaphore, TX_WAIT_FOREVER) == TX_SUCCESS;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return tx_semaphore_get(semaphore, ticks) == TX_SUCCESS;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return tx_semaphore_put(semaphore) == TX_SUCCESS;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)tx_semaphore_put(semaphore);
}

/* Returns how many takes of a semaphore would succeed now. */
static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    ULONG count;

    (void)tx_semaphore_info_get(semaphore, TX_NULL, &count, TX_NULL, TX_NULL, TX_NULL);
    return count;
}

/* Creates a mutex with priority inheritance. Returns false if it fails. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    return tx_mutex_create(mutex, (CHAR *)"", TX_INHERIT) == TX_SUCCESS;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return tx_mutex_get(mutex, TX_WAIT_FOREVER) == TX_SUCCESS;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return tx_mutex_get(mutex, ticks) == TX_SUCCESS;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return tx_mutex_put(mutex) == TX_SUCCESS;
}

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return tx_queue_send(queue, (VOID *)item, TX_WAIT_FOREVER) == TX_SUCCESS;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return tx_queue_receive(queue, item, TX_WAIT_FOREVER) == TX_SUCCESS;
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    return tx_queue_send(queue, (VOID *)item, TX_NO_WAIT) == TX_SUCCESS;
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    return tx_queue_receive(queue, item, TX_NO_WAIT) == TX_SUCCESS;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. ThreadX has no mailbox, so a queue
 * of one word serves as one. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return port_queue_create(mailbox, 1, sizeof(void *));
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return tx_queue_send(mailbox, &message, TX_WAIT_FOREVER) == TX_SUCCESS;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return tx_queue_receive(mailbox, message, TX_WAIT_FOREVER) == TX_SUCCESS;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return tx_queue_receive(mailbox, message, ticks) == TX_SUCCESS;
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    return tx_event_flags_create(event, (CHAR *)"") == TX_SUCCESS;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)tx_event_flags_set(event, bits, TX_OR);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    (void)tx_event_flags_set(event, bits, TX_OR);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)tx_event_flags_set(event, ~bits, TX_AND);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    ULONG were;

    (void)tx_event_flags_get(event, bits, TX_OR_CLEAR, &were, TX_WAIT_FOREVER);
    return were;
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    ULONG were;

    return tx_event_flags_get(event, bits, TX_OR_CLEAR, &were, ticks) == TX_SUCCESS;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    ULONG were;

    (void)tx_event_flags_get(event, bits, TX_AND_CLEAR, &were, TX_WAIT_FOREVER);
    return were;
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    UINT before;

    (void)tx_thread_priority_change(task, priority, &before);
}

/* Allocates bytes from the kernel's heap. Returns NULL if it has too few left. */
static inline void *port_malloc(size_t bytes)
{
    void *block;

    return tx_byte_allocate(&port_heap, &block, bytes, TX_NO_WAIT) == TX_SUCCESS ? block : NULL;
}

/* Frees a block of the kernel's heap. */
static inline void port_free(void *block)
{
    (void)tx_byte_release(block);
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    void *block;

    return tx_block_allocate(pool, &block, TX_NO_WAIT) == TX_SUCCESS ? block : NULL;
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    (void)pool; /* the block itself knows */
    (void)tx_block_release(block);
}
