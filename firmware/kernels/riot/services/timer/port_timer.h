/* RIOT's timers. The clock's interrupt, here the tick, calls the functions. */
#pragma once

#include <ztimer/periodic.h>

/* The kernel has an object and calls for each kind. A periodic timer's function tells whether the timer goes on. A timer of
 * the other kind does not look at that. */
typedef bool (*port_timer_callback_t)(void *);
typedef struct {
    union {
        ztimer_t once;
        ztimer_periodic_t periodic;
    } kernels;
    uint32_t ticks;
    bool is_periodic;
} port_timer_t;
#define PORT_TIMER_CALLBACK(name)                                                                 \
    __attribute__((always_inline)) inline void name##_body(void);                                 \
    static bool name(__attribute__((unused)) void *unused_argument)                               \
    {                                                                                             \
        name##_body();                                                                            \
        return ZTIMER_PERIODIC_KEEP_GOING;                                                        \
    }                                                                                             \
    static inline void name##_body(void)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    *timer = (port_timer_t){.ticks = ticks, .is_periodic = periodic};
    if (periodic) {
        ztimer_periodic_init(ZTIMER_MSEC, &timer->kernels.periodic, callback, NULL, ticks);
    } else {
        timer->kernels.once.callback = (ztimer_callback_t)(void (*)(void))callback;
    }
    return true;
}

/* Starts a software timer. The kernel has a call for each kind. */
static inline bool port_timer_start(port_timer_t *timer)
{
    if (timer->is_periodic) {
        ztimer_periodic_start(&timer->kernels.periodic);
    } else {
        (void)ztimer_set(ZTIMER_MSEC, &timer->kernels.once, timer->ticks);
    }
    return true;
}

/* Stops a software timer. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    if (timer->is_periodic) {
        ztimer_periodic_stop(&timer->kernels.periodic);
    } else {
        (void)ztimer_remove(ZTIMER_MSEC, &timer->kernels.once);
    }
    return true;
}
