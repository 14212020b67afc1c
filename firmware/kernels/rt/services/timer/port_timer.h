/* rt's timers. Starts and stops are commands to a task that calls the functions: the application makes that task and the
 * queue of its commands. It is the most urgent one, as the control task. */
#pragma once

#include <rt/timer.h>

RT_TIMER_QUEUE_STATIC(port_timer_commands, 4);
/* Room for floating-point registers, where there are any. */
#if defined(__ARM_FP)
RT_TIMER_TASK(&port_timer_commands, 512, 0);
#else
RT_TIMER_TASK(&port_timer_commands, 256, 0);
#endif

typedef struct rt_timer port_timer_t;
typedef void (*port_timer_callback_t)(void);
#define PORT_TIMER_CALLBACK(name) void name(void)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically.
 * Returns false if that fails. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    *timer = (struct rt_timer)RT_TIMER_INIT(*timer, &port_timer_commands, callback, ticks, periodic);
    return true;
}

/* Starts a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_start(port_timer_t *timer)
{
    rt_timer_start(timer);
    return true;
}

/* Stops a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    rt_timer_stop(timer);
    return true;
}
