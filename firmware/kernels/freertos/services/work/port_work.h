/* FreeRTOS's pended function calls: a message to the timer task, which calls the function. */
#pragma once

#include "timers.h"

typedef PendedFunction_t port_work_callback_t;
#define PORT_WORK_CALLBACK(name)                                                                       \
    void name(__attribute__((unused)) void *unused_pointer, __attribute__((unused)) uint32_t unused_number)

/* Submits a function that the kernel's timer task shall call. Returns false if the kernel refuses. */
static inline bool port_work_submit(port_work_callback_t function)
{
    return xTimerPendFunctionCall(function, NULL, 0, portMAX_DELAY) == pdPASS;
}

/* Submits a function that the kernel's timer task shall call, from a handler. Returns false if
 * the kernel's queue is full. */
static inline bool port_work_submit_from_isr(port_work_callback_t function)
{
    BaseType_t woken = pdFALSE;
    bool submitted = xTimerPendFunctionCallFromISR(function, NULL, 0, &woken) == pdPASS;

    portYIELD_FROM_ISR(woken);
    return submitted;
}
