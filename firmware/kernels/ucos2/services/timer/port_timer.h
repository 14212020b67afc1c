/* µC/OS-II's timers. The kernel's timer task calls the functions. */
#pragma once

typedef OS_TMR *port_timer_t;
typedef OS_TMR_CALLBACK port_timer_callback_t;
#define PORT_TIMER_CALLBACK(name) void name(__attribute__((unused)) void *unused_timer, __attribute__((unused)) void *unused_argument)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically.
 * Returns false if that fails. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    INT8U error;

    *timer = OSTmrCreate(ticks, ticks, periodic ? OS_TMR_OPT_PERIODIC : OS_TMR_OPT_ONE_SHOT, callback, NULL, NULL, &error);
    return error == OS_ERR_NONE;
}

/* Starts a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_start(port_timer_t *timer)
{
    INT8U error;

    return OSTmrStart(*timer, &error) == OS_TRUE;
}

/* Stops a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    INT8U error;

    return OSTmrStop(*timer, OS_TMR_OPT_NONE, NULL, &error) == OS_TRUE;
}
