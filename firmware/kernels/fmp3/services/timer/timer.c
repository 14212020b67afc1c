/* The tables of FMP3's alarms and cyclic handlers, which its configurator would write. See port.c. */
#include "bench/port.h"
#include "bench/timer.h"

#include "kernel_int.h"

#define TIMERS 8u
#define PROCESSOR PRC1 /* whose tick calls the functions */
#define ALL_OF(table) &table[0], &table[1], &table[2], &table[3], &table[4], &table[5], &table[6], &table[7]

ALMINIB port_alminibs[TIMERS] __asm__("_kernel_alminib_table");
CYCINIB port_cycinibs[TIMERS] __asm__("_kernel_cycinib_table");
static ALMCB alarms[TIMERS];
static CYCCB cyclics[TIMERS];
ALMCB *const _kernel_p_almcb_table[TIMERS] = {ALL_OF(alarms)};
CYCCB *const _kernel_p_cyccb_table[TIMERS] = {ALL_OF(cyclics)};
const ID _kernel_tmax_almid = TMIN_ALMID + TIMERS - 1;
const ID _kernel_tmax_cycid = TMIN_CYCID + TIMERS - 1;

static unsigned alarm_count, cyclic_count;

void port_initialize_timers(PCB *processor);

/* Creates what the tables say. The kernel's start calls it on each core. A timer gets its time and function later, when a
 * task creates it. */
void port_initialize_timers(PCB *processor)
{
    for (unsigned i = 0; i < TIMERS; i++) {
        port_alminibs[i].iprcid = PROCESSOR;
        port_cycinibs[i].iprcid = PROCESSOR;
    }
    _kernel_initialize_cyclic(processor);
    _kernel_initialize_alarm(processor);
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
        port_cycinibs[cyclic_count].nfyhdr = callback;
        port_cycinibs[cyclic_count].cyctim = PORT_TIME(ticks);
        port_cycinibs[cyclic_count].cycphs = first;
        *timer = (port_timer_t){.number = (ID)(TMIN_CYCID + cyclic_count), .is_periodic = true};
        cyclic_count++;
    } else {
        port_alminibs[alarm_count].nfyhdr = callback;
        *timer = (port_timer_t){.number = (ID)(TMIN_ALMID + alarm_count), .time = first};
        alarm_count++;
    }
    return true;
}
