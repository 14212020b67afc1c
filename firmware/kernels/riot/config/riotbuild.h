/* RIOT's configuration for benchmarks: the modules, which RIOT's build passes to the compiler in a file of this name. A value
 * may be overridden from the build (KERNEL_CONFIG="name=value;...") where it stands here behind a guard; all are in
 * build-info.json. Every file of the kernel includes it first. */
#ifndef RIOTBUILD_H
#define RIOTBUILD_H

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

#define RIOT_VERSION "benchmarks"
#define RIOT_VERSION_CODE 0

/* The kernel and its objects. */
#define MODULE_CORE 1
#define MODULE_CORE_LIB 1
#define MODULE_CORE_THREAD 1
#define MODULE_CORE_MSG 1
#define MODULE_CORE_MBOX 1
#define MODULE_CORE_THREAD_FLAGS 1
#define MODULE_SEMA 1
#define MODULE_ZTIMER 1
#define MODULE_ZTIMER_MSEC 1
#define MODULE_CORTEXM_COMMON 1

/* Without this module, which is RIOT's default on a Cortex-M, the kernel sleeps inside the handler of the switch. */
#ifndef RIOT_BENCH_IDLE_THREAD
#define RIOT_BENCH_IDLE_THREAD 0
#endif
#if RIOT_BENCH_IDLE_THREAD
#define MODULE_CORE_IDLE_THREAD 1
#endif

/* A core's floating-point unit is used where there is one, as by default. */
#if defined(__ARM_FP)
#define MODULE_CORTEXM_FPU 1
#endif

/* 1: the kernel checks the end of a thread's stack when it stops running. */
#ifndef SCHED_TEST_STACK
#define SCHED_TEST_STACK 0
#endif
#ifndef MAXTHREADS
#define MAXTHREADS 16
#endif
#ifndef SCHED_PRIO_LEVELS
#define SCHED_PRIO_LEVELS 16
#endif
/* A thread's name and the place of its stack, for a debugger. This macro alone turns on no check. */
#define DEVELHELP 1

/* The kernel checks nothing, as other kernels do with their assertions off. */
#ifndef RIOT_BENCH_ASSERT
#define RIOT_BENCH_ASSERT 0
#endif
#if !RIOT_BENCH_ASSERT
#define NDEBUG 1
#endif
/* No message of the kernel is printed. */
#define LOG_LEVEL 0

#endif
