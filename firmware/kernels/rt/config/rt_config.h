/* rt's configuration for benchmarks, included ahead of every file that sees rt. A value may be overridden from the build
 * (KERNEL_CONFIG="name=value;...") unless it stands here without a guard; every final value is in build-info.json. */
#ifndef RTOSLAB_RT_CONFIG_H
#define RTOSLAB_RT_CONFIG_H

#include "bench_kernel_config_overrides.h"

/* Interrupts a second that advance rt's tick. */
#ifndef RT_TICK_RATE_HZ
#define RT_TICK_RATE_HZ 1000
#endif

/* What costs time in every call and is off unless an application asks for it. */
#ifndef RT_TASK_CYCLE_ENABLE
#define RT_TASK_CYCLE_ENABLE 0
#endif
#ifndef RT_CYCLE_ENABLE
#define RT_CYCLE_ENABLE RT_TASK_CYCLE_ENABLE
#endif
#define RT_TRACE_ENABLE 0
#define RT_LOG_ENABLE 0
#define RT_TASK_LOCAL_STORAGE_ENABLE 0
/* Tasks here are privileged and share all memory, as with the other kernels. */
#define RT_MPU_TASK_REGIONS_ENABLE 0

/* The handlers take their slots in our vector table. */
#define rt_svcall_handler isr_svcall
#define rt_pendsv_handler isr_pendsv

#endif
