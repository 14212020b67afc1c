/* µC/OS-III behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include <os.h>

#define PORT_CONTRACT 3
#define PORT_TICK_HZ OS_CFG_TICK_RATE_HZ
/* In this kernel priority 0 is the most urgent, and the last one belongs to the idle task alone. */
#define PORT_PRIORITY_MAX (OS_CFG_PRIO_MAX - 2)
#define PORT_PRIORITY(abstract) ((uint32_t)PORT_PRIORITY_MAX - (abstract))
#define PORT_TIME_SLICE_TICKS 0
/* The kernel masks interrupts up to a level on ARMv7-M, and all interrupts on ARMv6-M. */
#if __ARM_ARCH_ISA_THUMB > 1
#define PORT_ISR_URGENCY CPU_CFG_KA_IPL_BOUNDARY
#else
#define PORT_ISR_URGENCY 0
#endif
#define PORT_EVENT_BITS 32

typedef OS_TCB *port_task_t;
typedef OS_SEM port_semaphore_t;
typedef OS_MUTEX port_mutex_t;
typedef OS_Q port_pointer_queue_t;
typedef OS_Q port_mailbox_t;
typedef OS_FLAG_GRP port_event_t;
typedef OS_MEM port_pool_t;
typedef CPU_SR port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    OS_ERR error;

    return OSTimeGet(&error);
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* Enters a critical section. Returns the state for `port_critical_exit`. The kernel's macros need a
 * variable named `cpu_sr`. */
static inline port_critical_t port_critical_enter(void)
{
    CPU_SR_ALLOC();

    CPU_CRITICAL_ENTER();
    return cpu_sr;
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t cpu_sr)
{
    CPU_CRITICAL_EXIT();
}

/* Tells the kernel that a handler which calls it begins. */
static inline void port_isr_enter(void)
{
    CPU_SR_ALLOC();

    CPU_CRITICAL_ENTER();
    OSIntEnter();
    CPU_CRITICAL_EXIT();
}

/* Tells the kernel that the handler ends. It may then switch tasks. */
static inline void port_isr_exit(void)
{
    OSIntExit();
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    OS_ERR error;

    OSTimeDly(ticks, OS_OPT_TIME_DLY, &error);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    OS_ERR error;

    OSSchedRoundRobinYield(&error);
}

/* Gives a notification to a task. */
static inline void port_notify_give(port_task_t task)
{
    OS_ERR error;

    (void)OSTaskSemPost(task, OS_OPT_POST_NONE, &error);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    OS_ERR error;

    (void)OSTaskSemPost(task, OS_OPT_POST_NONE, &error);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    OS_ERR error;

    (void)self; /* it is always the caller's own */
    (void)OSTaskSemPend(0, OS_OPT_PEND_BLOCKING, NULL, &error);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    OS_ERR error;

    OSTaskSuspend(self, &error);
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    OS_ERR error;

    OSTaskSuspend(task, &error);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    OS_ERR error;

    OSTaskResume(task, &error);
}

/* Creates a semaphore with an initial count. Returns false if it fails. The kernel keeps no maximum. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    OS_ERR error;

    (void)maximum;
    OSSemCreate(semaphore, (CPU_CHAR *)"", initial, &error);
    return error == OS_ERR_NONE;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    OS_ERR error;

    (void)OSSemPend(semaphore, 0, OS_OPT_PEND_BLOCKING, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. The kernel takes a
 * time-out of 0 for none, so another option serves for 0. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    OS_ERR error;

    (void)OSSemPend(semaphore, ticks, ticks == 0 ? OS_OPT_PEND_NON_BLOCKING : OS_OPT_PEND_BLOCKING, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    OS_ERR error;

    (void)OSSemPost(semaphore, OS_OPT_POST_1, &error);
    return error == OS_ERR_NONE;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    OS_ERR error;

    (void)OSSemPost(semaphore, OS_OPT_POST_1, &error);
}

/* Creates a mutex with priority inheritance. Returns false if it fails. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    OS_ERR error;

    OSMutexCreate(mutex, (CPU_CHAR *)"", &error);
    return error == OS_ERR_NONE;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    OS_ERR error;

    OSMutexPend(mutex, 0, OS_OPT_PEND_BLOCKING, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    OS_ERR error;

    OSMutexPend(mutex, ticks, ticks == 0 ? OS_OPT_PEND_NON_BLOCKING : OS_OPT_PEND_BLOCKING, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    OS_ERR error;

    OSMutexPost(mutex, OS_OPT_POST_NONE, &error);
    return error == OS_ERR_NONE;
}

/* Creates a queue of `length` pointers. Returns false if it fails. */
static inline bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    OS_ERR error;

    OSQCreate(queue, (CPU_CHAR *)"", (OS_MSG_QTY)length, &error);
    return error == OS_ERR_NONE;
}

/* Sends a pointer through a queue, without waiting. Returns false if the queue is full. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    OS_ERR error;

    OSQPost(queue, pointer, sizeof pointer, OS_OPT_POST_FIFO, &error);
    return error == OS_ERR_NONE;
}

/* Waits for a pointer from a queue. Returns false if the kernel refuses. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    OS_MSG_SIZE bytes;
    OS_ERR error;

    *pointer = OSQPend(queue, 0, OS_OPT_PEND_BLOCKING, &bytes, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. The kernel has no mailbox, so a queue of
 * one pointer serves as one. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return port_pointer_queue_create(mailbox, 1);
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return port_pointer_queue_send(mailbox, message);
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return port_pointer_queue_receive(mailbox, message);
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    OS_MSG_SIZE bytes;
    OS_ERR error;

    *message = OSQPend(mailbox, ticks, OS_OPT_PEND_BLOCKING, &bytes, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    OS_ERR error;

    OSFlagCreate(event, (CPU_CHAR *)"", 0, &error);
    return error == OS_ERR_NONE;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    OS_ERR error;

    (void)OSFlagPost(event, bits, OS_OPT_POST_FLAG_SET, &error);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    OS_ERR error;

    (void)OSFlagPost(event, bits, OS_OPT_POST_FLAG_SET, &error);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    OS_ERR error;

    (void)OSFlagPost(event, bits, OS_OPT_POST_FLAG_CLR, &error);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    OS_ERR error;

    return OSFlagPend(event, bits, 0, OS_OPT_PEND_FLAG_SET_ANY | OS_OPT_PEND_FLAG_CONSUME | OS_OPT_PEND_BLOCKING, NULL, &error);
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    OS_ERR error;

    (void)OSFlagPend(event, bits, ticks, OS_OPT_PEND_FLAG_SET_ANY | OS_OPT_PEND_FLAG_CONSUME | OS_OPT_PEND_BLOCKING, NULL,
                     &error);
    return error == OS_ERR_NONE;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    OS_ERR error;

    return OSFlagPend(event, bits, 0, OS_OPT_PEND_FLAG_SET_ALL | OS_OPT_PEND_FLAG_CONSUME | OS_OPT_PEND_BLOCKING, NULL, &error);
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    OS_ERR error;

    OSTaskChangePrio(task, (OS_PRIO)priority, &error);
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    OS_ERR error;

    return OSMemGet(pool, &error);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    OS_ERR error;

    OSMemPut(pool, block, &error);
}
