/* What ASP3 and its applications want to know of a target. */
#ifndef TOPPERS_TARGET_KERNEL_H
#define TOPPERS_TARGET_KERNEL_H

#include "bench_board_facts.h"

/* All levels but the most urgent one are the kernel's. */
#define TMIN_INTPRI (-((1 << BOARD_IRQ_PRIORITY_BITS) - 1))
/* The kernel's time advances by a tick. It counts microseconds. */
#ifndef TSTEP_HRTCNT
#define TSTEP_HRTCNT 1000U
#endif

#include "core_kernel.h"

#endif
