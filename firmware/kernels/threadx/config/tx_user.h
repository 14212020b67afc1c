/* ThreadX's configuration for benchmarks, included by each of its files, the assembler's too. A value may be overridden
 * from the build (KERNEL_CONFIG="name=value;...") where it stands here behind a guard; all are in build-info.json. */
#ifndef TX_USER_H
#define TX_USER_H

#include "bench_kernel_config_overrides.h"

#ifndef TX_TIMER_TICKS_PER_SECOND
#define TX_TIMER_TICKS_PER_SECOND 1000
#endif
#ifndef TX_MAX_PRIORITIES
#define TX_MAX_PRIORITIES 32
#endif
/* 1: the options that the maker's notes name for speed, beside those below. */
#ifndef TX_BENCH_SPEED
#define TX_BENCH_SPEED 0
#endif

/* Time-outs end in the tick's handler and not in a thread of the most urgent priority, which would add switches. */
#define TX_TIMER_PROCESS_IN_ISR
/* Calls go to the services themselves, without the layer that checks their arguments. */
#define TX_DISABLE_ERROR_CHECKING

#if TX_BENCH_SPEED
#define TX_REACTIVATE_INLINE
#define TX_INLINE_THREAD_RESUME_SUSPEND
#define TX_DISABLE_PREEMPTION_THRESHOLD
#define TX_DISABLE_REDUNDANT_CLEARING
#define TX_DISABLE_NOTIFY_CALLBACKS
#endif

#endif
