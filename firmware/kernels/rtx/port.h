/* RTX5 behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include "cmsis_os2.h"

#include "RTX_Config.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ OS_TICK_FREQ
/* osPriorityIdle belongs to the idle thread, and no application may use a priority between that and osPriorityLow. */
#define PORT_PRIORITY_MAX (osPriorityRealtime7 - osPriorityLow)
#define PORT_PRIORITY(abstract) ((uint32_t)osPriorityLow + (abstract))
#if OS_ROBIN_ENABLE
#define PORT_TIME_SLICE_TICKS OS_ROBIN_TIMEOUT
#else
#define PORT_TIME_SLICE_TICKS 0
#endif
/* A call in a handler only appends a request to a queue, which the handler of the task switch works off. */
#define PORT_ISR_URGENCY 0
/* The most significant bit of a returned value marks an error. */
#define PORT_EVENT_BITS 31
/* The thread flag that serves for notifications. */
#define PORT_NOTIFIED 1u

typedef osThreadId_t port_task_t;
typedef osSemaphoreId_t port_semaphore_t;
typedef osMutexId_t port_mutex_t;
typedef osMessageQueueId_t port_queue_t;
typedef osMessageQueueId_t port_mailbox_t;
typedef osEventFlagsId_t port_event_t;
typedef osMemoryPoolId_t port_pool_t;
typedef uint32_t port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
bool port_task_spawn(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return osKernelGetTickCount();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* Enters a critical section: masks interrupts. Returns the state for `port_critical_exit`. The kernel has no
 * critical section of its own. */
static inline port_critical_t port_critical_enter(void)
{
    port_critical_t before;

    __asm volatile("mrs %0, PRIMASK\n\tcpsid i" : "=r"(before)::"memory");
    return before;
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t before)
{
    __asm volatile("msr PRIMASK, %0" ::"r"(before) : "memory");
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
    (void)osDelay(ticks);
}

/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    *tick += ticks;
    (void)osDelayUntil(*tick);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    (void)osThreadYield();
}

/* Gives a notification to a task. */
static inline void port_notify_give(port_task_t task)
{
    (void)osThreadFlagsSet(task, PORT_NOTIFIED);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    (void)osThreadFlagsSet(task, PORT_NOTIFIED);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)self; /* a thread waits for its own flags */
    (void)osThreadFlagsWait(PORT_NOTIFIED, osFlagsWaitAny, osWaitForever);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)osThreadSuspend(self);
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    (void)osThreadSuspend(task);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)osThreadResume(task);
}

/* Deletes a task of the calling core. */
static inline void port_task_delete(port_task_t task)
{
    (void)osThreadTerminate(task);
}

/* Returns a task's priority, in the kernel's own numbers. */
static inline uint32_t port_priority_get(port_task_t task)
{
    return (uint32_t)osThreadGetPriority(task);
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    (void)osThreadSetPriority(task, (osPriority_t)priority);
}

/* Creates a semaphore with a maximum and an initial count. Returns false if it fails. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    *semaphore = osSemaphoreNew(maximum, initial, NULL);
    return *semaphore != NULL;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return osSemaphoreAcquire(*semaphore, osWaitForever) == osOK;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return osSemaphoreAcquire(*semaphore, ticks) == osOK;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return osSemaphoreRelease(*semaphore) == osOK;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)osSemaphoreRelease(*semaphore);
}

/* Returns how many takes of a semaphore would succeed now. */
static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    return osSemaphoreGetCount(*semaphore);
}

/* Creates a mutex with priority inheritance. Returns false if it fails. A mutex without attributes would not
 * inherit. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    static const osMutexAttr_t inherits = {.attr_bits = osMutexPrioInherit};

    *mutex = osMutexNew(&inherits);
    return *mutex != NULL;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return osMutexAcquire(*mutex, osWaitForever) == osOK;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return osMutexAcquire(*mutex, ticks) == osOK;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return osMutexRelease(*mutex) == osOK;
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. */
static inline bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    *queue = osMessageQueueNew(length, item_bytes, NULL);
    return *queue != NULL;
}

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return osMessageQueuePut(*queue, item, 0, osWaitForever) == osOK;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return osMessageQueueGet(*queue, item, NULL, osWaitForever) == osOK;
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    return osMessageQueuePut(*queue, item, 0, 0) == osOK;
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    return osMessageQueueGet(*queue, item, NULL, 0) == osOK;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. The kernel no longer has the mailbox of its
 * older interfaces, so a message queue of one pointer serves as one. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return port_queue_create(mailbox, 1, sizeof(void *));
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return osMessageQueuePut(*mailbox, &message, 0, osWaitForever) == osOK;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return osMessageQueueGet(*mailbox, message, NULL, osWaitForever) == osOK;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return osMessageQueueGet(*mailbox, message, NULL, ticks) == osOK;
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    *event = osEventFlagsNew(NULL);
    return *event != NULL;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)osEventFlagsSet(*event, bits);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    (void)osEventFlagsSet(*event, bits);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)osEventFlagsClear(*event, bits);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    return osEventFlagsWait(*event, bits, osFlagsWaitAny, osWaitForever);
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    return (osEventFlagsWait(*event, bits, osFlagsWaitAny, ticks) & osFlagsError) == 0;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    return osEventFlagsWait(*event, bits, osFlagsWaitAll, osWaitForever);
}

/* Creates a pool of blocks of one size. Returns false if it fails. */
static inline bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    *pool = osMemoryPoolNew(blocks, block_bytes, NULL);
    return *pool != NULL;
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    return osMemoryPoolAlloc(*pool, 0);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    (void)osMemoryPoolFree(*pool, block);
}
