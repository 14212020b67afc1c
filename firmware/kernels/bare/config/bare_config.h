/* What can be chosen without a kernel. May be overridden from the build (KERNEL_CONFIG="name=value;..."). */
#pragma once

#include "bench_kernel_config_overrides.h"

/* Interrupts a second by SysTick. */
#ifndef BARE_TICK_RATE_HZ
#define BARE_TICK_RATE_HZ 1000
#endif
