/* ChibiOS/RT's configuration for benchmarks. A value may be overridden from the build (KERNEL_CONFIG="name=value;...")
 * where it stands here behind a guard; all are in build-info.json. Assembler files include it too. */
#ifndef CHCONF_H
#define CHCONF_H

#include "bench_kernel_config_overrides.h"

/* The form of this file that the kernel's versions 7.x check for. */
#define _CHIBIOS_RT_CONF_
#define _CHIBIOS_RT_CONF_VER_7_0_

/* With two cores, each core has an instance of the kernel, with its own ready list and its own timers. */
#ifdef CHIBIOS_BENCH_TWO_CORES
#define CH_CFG_SMP_MODE TRUE
#else
#define CH_CFG_SMP_MODE FALSE
#endif

/* A periodic tick, as other kernels have it: TIMEDELTA 0 turns off the tickless mode, which is the kernel's default. */
#ifndef CH_CFG_ST_FREQUENCY
#define CH_CFG_ST_FREQUENCY 1000
#endif
#define CH_CFG_ST_RESOLUTION 32
#define CH_CFG_INTERVALS_SIZE 32
#define CH_CFG_TIME_TYPES_SIZE 32
#define CH_CFG_ST_TIMEDELTA 0

/* Scheduling: no slices among equals. */
#ifndef CH_CFG_TIME_QUANTUM
#define CH_CFG_TIME_QUANTUM 0
#endif
#define CH_CFG_NO_IDLE_THREAD FALSE
#ifndef CH_CFG_OPTIMIZE_SPEED
#define CH_CFG_OPTIMIZE_SPEED TRUE
#endif

/* The kernel checks and records nothing, as other kernels do with their assertions off. */
#ifndef CH_DBG_STATISTICS
#define CH_DBG_STATISTICS FALSE
#endif
#ifndef CH_DBG_SYSTEM_STATE_CHECK
#define CH_DBG_SYSTEM_STATE_CHECK FALSE
#endif
#ifndef CH_DBG_ENABLE_CHECKS
#define CH_DBG_ENABLE_CHECKS FALSE
#endif
#ifndef CH_DBG_ENABLE_ASSERTS
#define CH_DBG_ENABLE_ASSERTS FALSE
#endif
#ifndef CH_DBG_TRACE_MASK
#define CH_DBG_TRACE_MASK CH_DBG_TRACE_MASK_DISABLED
#endif
#define CH_DBG_TRACE_BUFFER_SIZE 16
#define CH_DBG_ENABLE_STACK_CHECK FALSE
#ifndef CH_DBG_THREADS_PROFILING
#define CH_DBG_THREADS_PROFILING FALSE
#endif
/* How deep a stack was used is read from what is left of its fill. Filling it costs time when a thread is made. */
#define CH_DBG_FILL_THREADS TRUE

/* Services. The registry holds the threads' names, for a debugger. */
#define CH_CFG_USE_TM FALSE
#define CH_CFG_USE_TIMESTAMP FALSE
#define CH_CFG_USE_REGISTRY TRUE
#define CH_CFG_USE_WAITEXIT TRUE
#define CH_CFG_USE_SEMAPHORES TRUE
/* The kernel's default: the longest waiting is woken first. kernel.toml declares it. */
#define CH_CFG_USE_SEMAPHORES_PRIORITY FALSE
#define CH_CFG_USE_MUTEXES TRUE
#define CH_CFG_USE_MUTEXES_RECURSIVE FALSE
#define CH_CFG_USE_CONDVARS TRUE
#define CH_CFG_USE_CONDVARS_TIMEOUT TRUE
#define CH_CFG_USE_EVENTS TRUE
#define CH_CFG_USE_EVENTS_TIMEOUT TRUE
#define CH_CFG_USE_MESSAGES TRUE
#define CH_CFG_USE_MESSAGES_PRIORITY FALSE
#define CH_CFG_USE_DYNAMIC TRUE
#define CH_CFG_USE_MAILBOXES TRUE
#define CH_CFG_USE_MEMCORE TRUE
/* The heap and the pools are objects of ours, each with its own memory: the kernel's common memory hands out nothing. */
#define CH_CFG_MEMCORE_SIZE 16
#define CH_CFG_USE_HEAP TRUE
#define CH_CFG_USE_MEMPOOLS TRUE
#define CH_CFG_USE_OBJ_FIFOS FALSE
#define CH_CFG_USE_PIPES FALSE
#define CH_CFG_USE_OBJ_CACHES FALSE
#define CH_CFG_USE_DELEGATES FALSE
#define CH_CFG_USE_JOBS FALSE
#define CH_CFG_USE_FACTORY FALSE
#define CH_CFG_FACTORY_MAX_NAMES_LENGTH 8
#define CH_CFG_FACTORY_OBJECTS_REGISTRY FALSE
#define CH_CFG_FACTORY_GENERIC_BUFFERS FALSE
#define CH_CFG_FACTORY_SEMAPHORES FALSE
#define CH_CFG_FACTORY_MAILBOXES FALSE
#define CH_CFG_FACTORY_OBJ_FIFOS FALSE
#define CH_CFG_FACTORY_PIPES FALSE

/* A thread that suspends itself leaves a reference to itself, by which it is resumed: an application keeps it beside
 * the thread, and here it is in the thread's own block. The size of its memory is for a debugger. */
#define CH_CFG_THREAD_EXTRA_FIELDS \
    thread_reference_t suspended;  \
    uint32_t stack_bytes;

/* Nothing is added to what the kernel does. */
#define CH_CFG_SYSTEM_EXTRA_FIELDS
#define CH_CFG_SYSTEM_INIT_HOOK()
#define CH_CFG_OS_INSTANCE_EXTRA_FIELDS
#define CH_CFG_OS_INSTANCE_INIT_HOOK(oip) ((void)(oip))
#define CH_CFG_THREAD_INIT_HOOK(tp)                                                   \
    do {                                                                              \
        (tp)->suspended = NULL;                                                       \
        (tp)->stack_bytes = (uint32_t)((uintptr_t)(tp) - (uintptr_t)(tp)->wabase);    \
    } while (false)
#define CH_CFG_THREAD_EXIT_HOOK(tp) ((void)(tp))
#define CH_CFG_CONTEXT_SWITCH_HOOK(ntp, otp)
#define CH_CFG_IRQ_PROLOGUE_HOOK()
#define CH_CFG_IRQ_EPILOGUE_HOOK()
#define CH_CFG_IDLE_ENTER_HOOK()
#define CH_CFG_IDLE_LEAVE_HOOK()
#define CH_CFG_IDLE_LOOP_HOOK()
#define CH_CFG_SYSTEM_TICK_HOOK()
#define CH_CFG_TRACE_HOOK(tep)
#define CH_CFG_RUNTIME_FAULTS_HOOK(mask) ((void)(mask))
#if !defined(_FROM_ASM_)
void port_halted(const char *reason);
#endif
#define CH_CFG_SYSTEM_HALT_HOOK(reason) port_halted(reason)

#endif
