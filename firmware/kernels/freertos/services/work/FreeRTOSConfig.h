/* FreeRTOS's configuration in images with submitted work: the timer task calls it, most urgent of all and on the tick's core. */
#pragma once

#include "bench_kernel_config_overrides.h"

#ifndef configUSE_TIMERS
#define configUSE_TIMERS 1
#endif
#ifndef configTIMER_SERVICE_TASK_CORE_AFFINITY
#define configTIMER_SERVICE_TASK_CORE_AFFINITY ((UBaseType_t)1u << configTICK_CORE)
#endif

#include_next "FreeRTOSConfig.h"

#undef INCLUDE_xTimerPendFunctionCall
#define INCLUDE_xTimerPendFunctionCall 1
