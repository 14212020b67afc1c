/* FMP3's alarms and cyclic handlers. The tick's handler calls the functions. */
#pragma once

/* The kernel has a kind of object for each kind of timer. */
typedef struct {
    ID number;
    RELTIM time;
    bool is_periodic;
} port_timer_t;
typedef void (*port_timer_callback_t)(EXINF);
#define PORT_TIMER_CALLBACK(name) void name(__attribute__((unused)) EXINF unused_information)

bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic);

/* Starts a software timer. A cyclic handler has its times from its creation. */
static inline bool port_timer_start(port_timer_t *timer)
{
    return (timer->is_periodic ? sta_cyc(timer->number) : sta_alm(timer->number, timer->time)) == E_OK;
}

/* Stops a software timer. */
static inline bool port_timer_stop(port_timer_t *timer)
{
    return (timer->is_periodic ? stp_cyc(timer->number) : stp_alm(timer->number)) == E_OK;
}
