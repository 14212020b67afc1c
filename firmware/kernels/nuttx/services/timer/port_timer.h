/* NuttX's watchdog timers. The tick's handler calls the functions. */
#pragma once

#include <nuttx/wdog.h>

typedef wdentry_t port_timer_callback_t;

/* A watchdog timer expires once. A periodic one is started again by its function, for a tick that is counted from its last
 * one. */
typedef struct {
    struct wdog_s kernels;
    port_timer_callback_t callback;
    uint32_t ticks;
    bool periodic;
} port_timer_t;

/* Starts a periodic timer again, as the last act of its function `callback`. */
static inline void port_timer_restart(port_timer_callback_t callback, wdparm_t parameter)
{
    port_timer_t *timer = (port_timer_t *)parameter;

    if (timer->periodic) {
        (void)wd_start_next(&timer->kernels, (clock_t)timer->ticks, callback, parameter); /* fails only for too many ticks */
    }
}

/* Declares the function that NuttX calls. The benchmark's lines become a part of it. */
#define PORT_TIMER_CALLBACK(name)                                          \
    inline __attribute__((always_inline)) void name##_benchmark_part(void); \
    static void name(wdparm_t parameter)                                   \
    {                                                                      \
        name##_benchmark_part();                                           \
        port_timer_restart(name, parameter);                               \
    }                                                                      \
    static inline void name##_benchmark_part(void)

/* Creates a timer of the kernel that calls `callback` after `ticks`, once or periodically. Returns true: NuttX has no call
 * for it. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    *timer = (port_timer_t){ .callback = callback, .ticks = ticks, .periodic = periodic };
    return true;
}

/* Starts a timer. Returns false if the kernel refuses. wd_start() itself would add a tick. */
static inline bool port_timer_start(port_timer_t *timer)
{
    return wd_start_abstick(&timer->kernels, clock_systime_ticks() + timer->ticks, timer->callback, (wdparm_t)timer) == OK;
}

/* Stops a timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    return wd_cancel(&timer->kernels) == OK;
}
