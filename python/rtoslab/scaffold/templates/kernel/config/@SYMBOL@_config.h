/* The kernel's configuration; every macro in it can be set by --config NAME=VALUE. */
#pragma once

#include "bench_kernel_config_overrides.h"

/* Interrupts a second by SysTick. */
#ifndef @MACRO@_TICK_RATE_HZ
#define @MACRO@_TICK_RATE_HZ 1000
#endif
