/* The flags of a RIOT thread. RIOT sets the two highest of the 16 itself, but only for messages and for waits with a time-out,
 * which this port does not use together with flags. */
#pragma once

/* Sets flags of a task. */
static inline void port_task_events_set(port_task_t task, uint32_t bits)
{
    thread_flags_set(task, (thread_flags_t)bits);
}

/* Sets flags of a task, from a handler. */
static inline void port_task_events_set_from_isr(port_task_t task, uint32_t bits)
{
    thread_flags_set(task, (thread_flags_t)bits);
}

/* Waits until a flag of the calling task is set, and clears its flags. Returns those that were set. */
static inline uint32_t port_task_events_wait(port_task_t self)
{
    (void)self; /* a thread waits for its own flags */
    return thread_flags_wait_any((thread_flags_t)UINT16_MAX);
}
