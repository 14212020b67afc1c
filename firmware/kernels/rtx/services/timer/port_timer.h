/* RTX5's timers. The kernel's timer thread calls the functions. */
#pragma once

/* The kernel is told the ticks at each start. */
typedef struct {
    osTimerId_t kernels;
    uint32_t ticks;
} port_timer_t;
typedef osTimerFunc_t port_timer_callback_t;
#define PORT_TIMER_CALLBACK(name) void name(__attribute__((unused)) void *unused_argument)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically.
 * Returns false if that fails. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    timer->ticks = ticks;
    timer->kernels = osTimerNew(callback, periodic ? osTimerPeriodic : osTimerOnce, NULL, NULL);
    return timer->kernels != NULL;
}

/* Starts a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_start(port_timer_t *timer)
{
    return osTimerStart(timer->kernels, timer->ticks) == osOK;
}

/* Stops a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    return osTimerStop(timer->kernels) == osOK;
}
