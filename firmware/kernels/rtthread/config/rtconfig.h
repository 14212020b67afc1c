/* RT-Thread's configuration for benchmarks. A value may be overridden from the build (KERNEL_CONFIG="name=value;...") where
 * it stands here behind a guard; all are in build-info.json. */
#ifndef RT_CONFIG_H__
#define RT_CONFIG_H__

#include "bench_kernel_config_overrides.h"

#ifndef RT_TICK_PER_SECOND
#define RT_TICK_PER_SECOND 1000
#endif
#ifndef RT_THREAD_PRIORITY_MAX
#define RT_THREAD_PRIORITY_MAX 32
#endif
#define RT_ALIGN_SIZE 8
#ifndef RT_NAME_MAX
#define RT_NAME_MAX 8
#endif
#ifndef IDLE_THREAD_STACK_SIZE
#define IDLE_THREAD_STACK_SIZE 256
#endif

/* 1: assertions. */
#ifndef RT_BENCH_DEBUG
#define RT_BENCH_DEBUG 0
#endif
/* 1: the most urgent priority is found by the core's instructions for it, which the port for ARMv6-M has not. */
#ifndef RT_BENCH_CPU_FFS
#define RT_BENCH_CPU_FFS (__ARM_ARCH_ISA_THUMB > 1)
#endif

/* The kernel asks of these only whether they are defined. Hooks, stack checks, soft timers, signals, the console and all
 * components are left out. */
#if RT_BENCH_DEBUG
#define RT_DEBUG
#endif
#if RT_BENCH_CPU_FFS
#define RT_USING_CPU_FFS
#endif
#define RT_USING_SEMAPHORE
#define RT_USING_MUTEX
#define RT_USING_EVENT
#define RT_USING_MAILBOX
#define RT_USING_MESSAGEQUEUE
#define RT_USING_MEMPOOL
#define RT_USING_HEAP
#define RT_USING_SMALL_MEM
#define RT_USING_SMALL_MEM_AS_HEAP

#endif
