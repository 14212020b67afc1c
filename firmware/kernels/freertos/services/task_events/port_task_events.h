/* FreeRTOS's notification value of a task, used as flags. The wait ends at a notification, whatever its flags are. */
#pragma once

#ifndef tskDEFAULT_INDEX_TO_NOTIFY
#error "The service task_events is for FreeRTOS 10.4 and later, in which each notification has an index."
#endif

/* Sets flags of a task. */
static inline void port_task_events_set(port_task_t task, uint32_t bits)
{
    (void)xTaskNotify(task, bits, eSetBits);
}

/* Sets flags of a task, from a handler. */
static inline void port_task_events_set_from_isr(port_task_t task, uint32_t bits)
{
    BaseType_t woken = pdFALSE;

    (void)xTaskNotifyFromISR(task, bits, eSetBits, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Waits until a flag of the calling task is set, and clears its flags. Returns those that were set. */
static inline uint32_t port_task_events_wait(port_task_t self)
{
    uint32_t bits = 0;

    (void)self;
    (void)xTaskNotifyWait(0, UINT32_MAX, &bits, portMAX_DELAY);
    return bits;
}
