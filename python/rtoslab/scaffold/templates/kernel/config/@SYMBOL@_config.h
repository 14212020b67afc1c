/* The kernel's configuration. Each macro in it can be set by --config NAME=VALUE. */
#pragma once

#include "bench_kernel_config_overrides.h"

/* The number of SysTick interrupts per second. */
#ifndef @MACRO@_TICK_RATE_HZ
#define @MACRO@_TICK_RATE_HZ 1000
#endif
