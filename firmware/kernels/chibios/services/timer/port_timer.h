/* ChibiOS's virtual timers. The tick's handler calls the functions. The kernel's own calls for timers are inline. */
#pragma once

/* The kernel is told function, ticks and kind at each start. */
typedef struct {
    virtual_timer_t kernels;
    vtfunc_t callback;
    uint32_t ticks;
    bool periodic;
} port_timer_t;
typedef vtfunc_t port_timer_callback_t;
#define PORT_TIMER_CALLBACK(name) \
    void name(__attribute__((unused)) virtual_timer_t *unused_timer, __attribute__((unused)) void *unused_argument)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    chVTObjectInit(&timer->kernels);
    timer->callback = callback;
    timer->ticks = ticks;
    timer->periodic = periodic;
    return true;
}

/* Starts a software timer. The kernel has a call for each kind. */
static inline bool port_timer_start(port_timer_t *timer)
{
    if (timer->periodic) {
        chVTSetContinuous(&timer->kernels, timer->ticks, timer->callback, NULL);
    } else {
        chVTSet(&timer->kernels, timer->ticks, timer->callback, NULL);
    }
    return true;
}

/* Stops a software timer. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    chVTReset(&timer->kernels);
    return true;
}
