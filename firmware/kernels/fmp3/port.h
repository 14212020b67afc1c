/* TOPPERS/FMP3 behind the port contract. Each function is one call of the kernel, inlined away. Tasks and objects have
 * numbers, as in all calls of the kernel. */
#pragma once

#include <kernel.h>
#include <sil.h>

#define PORT_CONTRACT 3
#define PORT_TICK_HZ (1000000u / TSTEP_HRTCNT)
/* A time of so many ticks, in the kernel's microseconds. */
#define PORT_TIME(ticks) ((RELTIM)((ticks) * TSTEP_HRTCNT))
/* Of the kernel's numbers, 16 is the least urgent. */
#define PORT_PRIORITY_MAX (TMAX_TPRI - TMIN_TPRI)
#define PORT_PRIORITY(abstract) ((uint32_t)TMAX_TPRI - (abstract))
#define PORT_TIME_SLICE_TICKS 0
/* The most urgent level is not the kernel's. */
#define PORT_ISR_URGENCY 1

typedef ID port_task_t;
typedef ID port_semaphore_t;
typedef ID port_pointer_queue_t;
typedef ID port_mailbox_t;
typedef ID port_pool_t;
typedef uint32_t port_critical_t;

void port_prepare(void);
void port_start(void);
bool port_task_create(port_task_t *task, const struct port_task_request *request);
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes);
uintptr_t port_task_address(port_task_t task);
uint32_t port_tick_now(void);
bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial);
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length);
bool port_mailbox_create(port_mailbox_t *mailbox);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);

/* Returns the number of the calling core. */
static inline unsigned port_core(void)
{
    return *(volatile uint32_t *)BOARD_CORE_ID_ADDRESS;
}

/* Masks all interrupts of this core. With two cores it also keeps the other core out. The kernel's own lock (loc_cpu) cannot
 * be entered twice; these of its layer for hardware can. */
static inline port_critical_t port_critical_enter(void)
{
#if TNUM_PRCID > 1
    return TOPPERS_sil_loc_spn();
#else
    return (port_critical_t)TOPPERS_disint();
#endif
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t entered)
{
#if TNUM_PRCID > 1
    TOPPERS_sil_unl_spn(entered);
#else
    TOPPERS_enaint((bool_t)entered);
#endif
}

/* The kernel's code has called the handler. */
static inline void port_isr_enter(void)
{
}

/* The kernel's code does what is left. The handler returns to that code: without this barrier its last call would be a
 * jump, and seem to be the kernel's. */
static inline void port_isr_exit(void)
{
    __asm volatile("" ::: "memory");
}

/* Lets the calling task sleep until the n-th tick from now, or one tick later. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    (void)dly_tsk(PORT_TIME(ticks));
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    (void)rot_rdq(TPRI_SELF);
}

/* Gives a notification to a task: a request to wake it. */
static inline void port_notify_give(port_task_t task)
{
    (void)wup_tsk(task);
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    (void)wup_tsk(task);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)self; /* a task waits for its own requests */
    (void)slp_tsk();
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)self;
    (void)sus_tsk(TSK_SELF);
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    (void)sus_tsk(task);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    (void)rsm_tsk(task);
}

/* Returns a task's priority. */
static inline uint32_t port_priority_get(port_task_t task)
{
    PRI priority;

    (void)get_pri(task, &priority);
    return (uint32_t)priority;
}

/* Changes a task's priority. If it becomes more urgent than the caller, it preempts the caller. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    (void)chg_pri(task, (PRI)priority);
}

/* Takes a semaphore, and waits for as long as its count is 0. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return wai_sem(*semaphore) == E_OK;
}

/* Takes a semaphore, and waits until the n-th tick at most, or one tick later. False if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return twai_sem(*semaphore, PORT_TIME(ticks)) == E_OK;
}

/* Gives a semaphore, and wakes a waiter. False if its count is at its maximum. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return sig_sem(*semaphore) == E_OK;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    (void)sig_sem(*semaphore);
}

/* Sends a pointer through a queue, without waiting. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    return psnd_dtq(*queue, (intptr_t)pointer) == E_OK;
}

/* Waits for a pointer from a queue. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    return rcv_dtq(*queue, (intptr_t *)pointer) == E_OK;
}

/* Puts a pointer into a mailbox. Waits, or returns false (service `mailbox_send_waits`). */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *pointer)
{
    return snd_dtq(*mailbox, (intptr_t)pointer) == E_OK;
}

/* Waits for a pointer in a mailbox, and takes it out. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **pointer)
{
    return rcv_dtq(*mailbox, (intptr_t *)pointer) == E_OK;
}

/* Waits for a pointer in a mailbox until the n-th tick at most, or one tick later. False if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **pointer, uint32_t ticks)
{
    return trcv_dtq(*mailbox, (intptr_t *)pointer, PORT_TIME(ticks)) == E_OK;
}

/* Takes a block from a pool, without waiting. NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    void *block;

    return pget_mpf(*pool, &block) == E_OK ? block : NULL;
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    (void)rel_mpf(*pool, block);
}
