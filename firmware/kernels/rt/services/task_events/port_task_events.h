/* rt's notifications with a value, used as flags: an object beside each task. The wait ends at a notification. */
#pragma once

/* Sets flags of a task. */
static inline void port_task_events_set(port_task_t task, uint32_t bits)
{
    rt_notify_or(&task->notification, bits);
}

/* Sets flags of a task, from a handler. */
static inline void port_task_events_set_from_isr(port_task_t task, uint32_t bits)
{
    rt_notify_or(&task->notification, bits);
}

/* Waits until a flag of the calling task is set, and clears its flags. Returns those that were set. */
static inline uint32_t port_task_events_wait(port_task_t self)
{
    return rt_notify_wait_clear(&self->notification, UINT32_MAX);
}
