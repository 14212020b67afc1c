/* FreeRTOS's software timers. Starts and stops are commands to the timer task, which also calls the functions. */
#pragma once

#include "timers.h"

#if !configUSE_TIMERS
#error "The service timer needs configUSE_TIMERS=1."
#endif

typedef TimerHandle_t port_timer_t;
typedef TimerCallbackFunction_t port_timer_callback_t;
#define PORT_TIMER_CALLBACK(name) void name(__attribute__((unused)) TimerHandle_t unused_timer)

/* The benchmark of task sets runs timers at a priority of its choice. */
#define PORT_TIMER_TASK_PRIORITY 1

/* Sets the priority of the timer task. */
static inline void port_timer_task_priority_set(UBaseType_t priority)
{
    vTaskPrioritySet(xTimerGetTimerDaemonTaskHandle(), priority);
}

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically.
 * Returns false if that fails. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    *timer = xTimerCreate("", ticks, periodic ? pdTRUE : pdFALSE, NULL, callback);
    return *timer != NULL;
}

/* Starts a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_start(port_timer_t *timer)
{
    return xTimerStart(*timer, portMAX_DELAY) == pdPASS;
}

/* Stops a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    return xTimerStop(*timer, portMAX_DELAY) == pdPASS;
}
