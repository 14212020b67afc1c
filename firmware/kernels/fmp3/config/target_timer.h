/* The clock of FMP3's time events: a tick of processor 1's SysTick. */
#ifndef TOPPERS_TARGET_TIMER_H
#define TOPPERS_TARGET_TIMER_H

#include "kernel_impl.h"

/* The most microseconds ahead for which the kernel sets an event. */
#define HRTCNT_BOUND 4000000002U

#ifndef TOPPERS_MACRO_ONLY
extern volatile HRTCNT port_microseconds;

static inline HRTCNT target_hrt_get_current(void)
{
    return port_microseconds;
}

/* Each tick looks for events that are due. */
static inline void target_hrt_set_event(ID processor, HRTCNT microseconds)
{
    (void)processor;
    (void)microseconds;
}

/* An event is due now. The next tick finds it. */
static inline void target_hrt_raise_event(ID processor)
{
    (void)processor;
}

/* No event is left. */
static inline void target_hrt_clear_event(ID processor)
{
    (void)processor;
}
#endif

#endif
