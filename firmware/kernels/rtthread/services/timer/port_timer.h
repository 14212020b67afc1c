/* RT-Thread's timers of the kind that is called hard: the tick's handler calls the functions. */
#pragma once

typedef struct rt_timer port_timer_t;
typedef void (*port_timer_callback_t)(void *);
#define PORT_TIMER_CALLBACK(name) void name(__attribute__((unused)) void *unused_parameter)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically.
 * Returns false if that fails. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    rt_timer_init(timer, "", callback, RT_NULL, ticks,
                  RT_TIMER_FLAG_HARD_TIMER | (periodic ? RT_TIMER_FLAG_PERIODIC : RT_TIMER_FLAG_ONE_SHOT));
    return true;
}

/* Starts a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_start(port_timer_t *timer)
{
    return rt_timer_start(timer) == RT_EOK;
}

/* Stops a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    return rt_timer_stop(timer) == RT_EOK;
}
