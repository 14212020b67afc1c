/* FreeRTOS's pended function calls: a message to the timer task, which calls the function. */
#pragma once

#include "timers.h"

typedef PendedFunction_t port_work_callback_t;
#define PORT_WORK_CALLBACK(name)                                                                       \
    void name(__attribute__((unused)) void *unused_pointer, __attribute__((unused)) uint32_t unused_number)

static inline bool port_work_submit(port_work_callback_t function)
{
    return xTimerPendFunctionCall(function, NULL, 0, portMAX_DELAY) == pdPASS;
}

static inline bool port_work_submit_from_isr(port_work_callback_t function)
{
    BaseType_t woken = pdFALSE;
    bool submitted = xTimerPendFunctionCallFromISR(function, NULL, 0, &woken) == pdPASS;

    portYIELD_FROM_ISR(woken);
    return submitted;
}
