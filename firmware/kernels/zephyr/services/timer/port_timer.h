/* Zephyr's timers. The tick's handler calls the functions. */
#pragma once

/* The kernel is told ticks and kind at each start. */
typedef struct {
    struct k_timer kernels;
    uint32_t ticks;
    bool periodic;
} port_timer_t;
typedef k_timer_expiry_t port_timer_callback_t;
#define PORT_TIMER_CALLBACK(name) void name(__attribute__((unused)) struct k_timer *unused_timer)

/* Creates a timer of the kernel that calls `callback` after `ticks`, once or periodically. Returns true: Zephyr's call
 * cannot fail. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    k_timer_init(&timer->kernels, callback, NULL);
    timer->ticks = ticks;
    timer->periodic = periodic;
    return true;
}

/* Starts a timer. Returns true: Zephyr's call cannot fail. */
static inline bool port_timer_start(port_timer_t *timer)
{
    k_timer_start(&timer->kernels, K_TICKS(timer->ticks), timer->periodic ? K_TICKS(timer->ticks) : K_NO_WAIT);
    return true;
}

/* Stops a timer. Returns true: Zephyr's call cannot fail. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    k_timer_stop(&timer->kernels);
    return true;
}
