/* Contiki-NG's timers for real time belong to a CPU's part of it. No benchmark has one. */
#pragma once

#define RTIMER_ARCH_SECOND 1000
#define rtimer_arch_now() clock_time()
