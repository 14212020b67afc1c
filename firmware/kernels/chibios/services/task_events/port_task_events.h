/* ChibiOS's events of a thread. */
#pragma once

/* Sets flags of a task. */
static inline void port_task_events_set(port_task_t task, uint32_t bits)
{
    chEvtSignal(task, bits);
}

/* Sets flags of a task, from a handler. */
static inline void port_task_events_set_from_isr(port_task_t task, uint32_t bits)
{
    chSysLockFromISR();
    chEvtSignalI(task, bits);
    chSysUnlockFromISR();
}

/* Waits until a flag of the calling task is set, and clears its flags. Returns those that were set. */
static inline uint32_t port_task_events_wait(port_task_t self)
{
    (void)self;
    return chEvtWaitAny(ALL_EVENTS);
}
