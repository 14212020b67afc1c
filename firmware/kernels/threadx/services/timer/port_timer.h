/* ThreadX's application timers. With TX_TIMER_PROCESS_IN_ISR, as config/tx_user.h has it, the tick's handler calls the
 * functions. */
#pragma once

/* A timer that has expired or was stopped keeps what is left of its ticks: an application gives them anew. */
typedef struct {
    TX_TIMER kernels;
    ULONG ticks, again_ticks;
} port_timer_t;
typedef VOID (*port_timer_callback_t)(ULONG);
#define PORT_TIMER_CALLBACK(name) VOID name(__attribute__((unused)) ULONG unused_input)

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically.
 * Returns false if that fails. */
static inline bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    timer->ticks = ticks;
    timer->again_ticks = periodic ? ticks : 0;
    return tx_timer_create(&timer->kernels, (CHAR *)"", callback, 0, ticks, timer->again_ticks, TX_NO_ACTIVATE) == TX_SUCCESS;
}

/* Starts a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_start(port_timer_t *timer)
{
    (void)tx_timer_change(&timer->kernels, timer->ticks, timer->again_ticks); /* cannot fail */
    return tx_timer_activate(&timer->kernels) == TX_SUCCESS;
}

/* Stops a software timer. Returns false if the kernel refuses. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    return tx_timer_deactivate(&timer->kernels) == TX_SUCCESS;
}
