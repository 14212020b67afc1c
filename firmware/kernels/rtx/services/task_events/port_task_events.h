/* RTX5's flags of a thread. */
#pragma once

/* The flags of a thread: all but the bit that marks an error. */
#define PORT_TASK_EVENTS_ALL 0x7FFFFFFFu

/* Sets flags of a task. */
static inline void port_task_events_set(port_task_t task, uint32_t bits)
{
    (void)osThreadFlagsSet(task, bits);
}

/* Sets flags of a task, from a handler. */
static inline void port_task_events_set_from_isr(port_task_t task, uint32_t bits)
{
    (void)osThreadFlagsSet(task, bits);
}

/* Waits until a flag of the calling task is set, and clears its flags. Returns those that were set. */
static inline uint32_t port_task_events_wait(port_task_t self)
{
    (void)self;
    return osThreadFlagsWait(PORT_TASK_EVENTS_ALL, osFlagsWaitAny, osWaitForever);
}
