/* The service `timer` of the port contract: a timer calls a function on a tick, once or periodically.
 *
 * The port's services/timer/port_timer.h gives:
 *     port_timer_t                        a timer; it exists as long as the image runs
 *     PORT_TIMER_CALLBACK(name)           declares the function `name` with the parameters that the kernel calls it with
 *     port_timer_callback_t               a pointer to such a function
 * What calls the function is the kernel's matter: a task of its own, or the tick's handler (`timer_callback` in kernel.toml).
 * So the function MUST NOT wait, and calls no service of the kernel but port_tick_now().
 *
 * A timer is created by a task while the kernel runs, with its length in ticks (at least 1). It is stopped then. A start of a
 * stopped timer lets it expire on the n-th tick from now, and a periodic one on each n-th tick after that, however late its
 * function was called. A timer that was stopped before its tick does not call. Only a stopped timer is started, and one that
 * has expired once is stopped. */
#pragma once

#include "bench/port.h"
#include "bench_cpu.h"

#if !KERNEL_SERVICES_TIMER
#error "This kernel lacks the service timer; see kernel.toml."
#elif !__has_include(<port_timer.h>)
#error "The service timer is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=timer."
#else
#include <port_timer.h>
#endif

/* Timer, function, ticks, whether it is periodic. */
PORT_IS(port_timer_create, bool(port_timer_t *, port_timer_callback_t, uint32_t, bool));
PORT_IS(port_timer_start, bool(port_timer_t *));
PORT_IS(port_timer_stop, bool(port_timer_t *));

/* Returns the cycles since the last tick became due. SysTick counts the core's cycles down from one tick to the next,
 * so this is right in any context, within one tick. */
static inline uint32_t tick_elapsed_cycles(void)
{
    return CPU_SYST_RVR - CPU_SYST_CVR;
}

/* Returns the cycles until the next tick. */
static inline uint32_t tick_remaining_cycles(void)
{
    return CPU_SYST_CVR;
}
