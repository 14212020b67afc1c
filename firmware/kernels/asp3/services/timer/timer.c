/* The tables of ASP3's alarms and cyclic handlers, which its configurator would write. See port.c. */
#include "bench/port.h"
#include "bench/timer.h"

#include "kernel_int.h"

#define TIMERS 8u

ALMINIB port_alminibs[TIMERS] __asm__("_kernel_alminib_table");
CYCINIB port_cycinibs[TIMERS] __asm__("_kernel_cycinib_table");
ALMCB _kernel_almcb_table[TIMERS];
CYCCB _kernel_cyccb_table[TIMERS];
const ID _kernel_tmax_almid = TMIN_ALMID + TIMERS - 1;
const ID _kernel_tmax_cycid = TMIN_CYCID + TIMERS - 1;

static unsigned alarm_count, cyclic_count;

void port_initialize_timers(void);

/* Creates what the tables say. The kernel's start calls it. */
void port_initialize_timers(void)
{
    _kernel_initialize_cyclic();
    _kernel_initialize_alarm();
}

/* Creates a software timer of the kernel that calls `callback` after `ticks`, once or periodically. The kernel counts a time
 * from the next tick on, so one tick less is requested. Returns false if there are no more. */
bool port_timer_create(port_timer_t *timer, port_timer_callback_t callback, uint32_t ticks, bool periodic)
{
    RELTIM first = PORT_TIME(ticks - 1u);

    if ((periodic ? cyclic_count : alarm_count) == TIMERS) {
        return false;
    }
    if (periodic) {
        port_cycinibs[cyclic_count] = (CYCINIB){.nfyhdr = callback, .cyctim = PORT_TIME(ticks), .cycphs = first};
        *timer = (port_timer_t){.number = (ID)(TMIN_CYCID + cyclic_count), .is_periodic = true};
        cyclic_count++;
    } else {
        port_alminibs[alarm_count] = (ALMINIB){.nfyhdr = callback};
        *timer = (port_timer_t){.number = (ID)(TMIN_ALMID + alarm_count), .time = first};
        alarm_count++;
    }
    return true;
}
