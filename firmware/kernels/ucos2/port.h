/* µC/OS-II behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include <ucos_ii.h>

#define PORT_CONTRACT 3
#define PORT_TICK_HZ OS_TICKS_PER_SEC
/* In this kernel priority 0 is the most urgent. The first ones belong to the mutexes, and the
 * last one to the idle task. */
#define PORT_PRIORITY_MAX (OS_LOWEST_PRIO - OS_BENCH_CEILINGS - 1)
#define PORT_PRIORITY(abstract) ((uint32_t)(OS_LOWEST_PRIO - 1) - (abstract))
#define PORT_TIME_SLICE_TICKS 0
/* The kernel masks interrupts up to a level on ARMv7-M, and all interrupts on ARMv6-M. */
#if __ARM_ARCH_ISA_THUMB > 1
#define PORT_ISR_URGENCY CPU_CFG_KA_IPL_BOUNDARY
#else
#define PORT_ISR_URGENCY 0
#endif
#define PORT_EVENT_BITS OS_FLAGS_NBITS

/* The kernel knows a task by its priority, which no other task has. */
typedef INT8U port_task_t;
typedef OS_EVENT *port_semaphore_t;
typedef OS_EVENT *port_mutex_t;
typedef OS_EVENT *port_pointer_queue_t;
typedef OS_EVENT *port_mailbox_t;
typedef OS_FLAG_GRP *port_event_t;
typedef OS_MEM *port_pool_t;
typedef OS_CPU_SR port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
bool port_mutex_create(port_mutex_t *mutex);
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
    return OSTimeGet();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)OSTCBPrioTbl[task];
}

/* Enters a critical section. Returns the state for `port_critical_exit`. The kernel's macros need a
 * variable named `cpu_sr`. */
static inline port_critical_t port_critical_enter(void)
{
    OS_CPU_SR cpu_sr;

    OS_ENTER_CRITICAL();
    return cpu_sr;
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t cpu_sr)
{
    OS_EXIT_CRITICAL();
}

/* Tells the kernel that a handler which calls it begins. */
static inline void port_isr_enter(void)
{
    OS_CPU_SR cpu_sr;

    OS_ENTER_CRITICAL();
    OSIntEnter();
    OS_EXIT_CRITICAL();
}

/* Tells the kernel that the handler ends. It may then switch tasks. */
static inline void port_isr_exit(void)
{
    OSIntExit();
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    OSTimeDly(ticks);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)OSTaskSuspend(self);
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    (void)OSTaskSuspend(task);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)OSTaskResume(task);
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    (void)OSTaskResume(task);
}

/* Creates a semaphore with an initial count. Returns false if it fails. The kernel keeps no maximum. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    (void)maximum;
    *semaphore = OSSemCreate((INT16U)initial);
    return *semaphore != NULL;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    INT8U error;

    OSSemPend(*semaphore, 0, &error);
    return error == OS_ERR_NONE;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. The kernel takes a
 * time-out of 0 for none, so another call serves for 0. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    INT8U error;

    if (ticks == 0) {
        return OSSemAccept(*semaphore) != 0;
    }
    OSSemPend(*semaphore, ticks, &error);
    return error == OS_ERR_NONE;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return OSSemPost(*semaphore) == OS_ERR_NONE;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)OSSemPost(*semaphore);
}

/* Returns how many takes of a semaphore would succeed now. */
static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    OS_SEM_DATA found;

    (void)OSSemQuery(*semaphore, &found);
    return found.OSCnt;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    INT8U error;

    OSMutexPend(*mutex, 0, &error);
    return error == OS_ERR_NONE;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    INT8U error;

    if (ticks == 0) {
        return OSMutexAccept(*mutex, &error) == OS_TRUE;
    }
    OSMutexPend(*mutex, ticks, &error);
    return error == OS_ERR_NONE;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return OSMutexPost(*mutex) == OS_ERR_NONE;
}

/* Sends a pointer through a queue, without waiting. Returns false if the queue is full. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    return OSQPost(*queue, pointer) == OS_ERR_NONE;
}

/* Waits for a pointer from a queue. Returns false if the kernel refuses. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    INT8U error;

    *pointer = OSQPend(*queue, 0, &error);
    return error == OS_ERR_NONE;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    *mailbox = OSMboxCreate(NULL);
    return *mailbox != NULL;
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return OSMboxPost(*mailbox, message) == OS_ERR_NONE;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    INT8U error;

    *message = OSMboxPend(*mailbox, 0, &error);
    return error == OS_ERR_NONE;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    INT8U error;

    *message = OSMboxPend(*mailbox, ticks, &error);
    return error == OS_ERR_NONE;
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    INT8U error;

    *event = OSFlagCreate(0, &error);
    return error == OS_ERR_NONE;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    INT8U error;

    (void)OSFlagPost(*event, bits, OS_FLAG_SET, &error);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    INT8U error;

    (void)OSFlagPost(*event, bits, OS_FLAG_SET, &error);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    INT8U error;

    (void)OSFlagPost(*event, bits, OS_FLAG_CLR, &error);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    INT8U error;

    return OSFlagPend(*event, bits, OS_FLAG_WAIT_SET_ANY + OS_FLAG_CONSUME, 0, &error);
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    INT8U error;

    (void)OSFlagPend(*event, bits, OS_FLAG_WAIT_SET_ANY + OS_FLAG_CONSUME, ticks, &error);
    return error == OS_ERR_NONE;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    INT8U error;

    return OSFlagPend(*event, bits, OS_FLAG_WAIT_SET_ALL + OS_FLAG_CONSUME, 0, &error);
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    INT8U error;

    return OSMemGet(*pool, &error);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    (void)OSMemPut(*pool, block);
}
