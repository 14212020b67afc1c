/* µC/OS-II's configuration for benchmarks. A value may be overridden from the build (KERNEL_CONFIG="name=value;...")
 * where it stands here behind a guard; all are in build-info.json. */
#ifndef OS_CFG_H
#define OS_CFG_H

#include "bench_board_facts.h"
#include "bench_config.h"
#include "bench_kernel_config_overrides.h"

/* The kernel checks no arguments, as other kernels do with their assertions off, and records nothing. */
#ifndef OS_ARG_CHK_EN
#define OS_ARG_CHK_EN 0
#endif
#ifndef OS_TASK_PROFILE_EN
#define OS_TASK_PROFILE_EN 0
#endif
#define OS_DEBUG_EN 0
#define OS_EVENT_NAME_EN 0
#define OS_TASK_NAME_EN 0
#define OS_TICK_STEP_EN 0
#define OS_TRACE_EN 0
#define OS_TRACE_API_ENTER_EN 0
#define OS_TRACE_API_EXIT_EN 0

/* The ports' own hooks stay: without them a port sets up nothing, and saves no floating-point registers at a switch. */
#define OS_CPU_HOOKS_EN 1
#define OS_TASK_SW_HOOK_EN 1
#define OS_APP_HOOKS_EN 0
#define OS_TIME_TICK_HOOK_EN 0

/* Numbers of priorities, from the most urgent: ceilings of mutexes, tasks, and the last one the idle task's. */
#define OS_BENCH_CEILINGS 4
#ifndef OS_LOWEST_PRIO
#if BENCH_PRIORITIES <= 9
#define OS_LOWEST_PRIO 15
#else
#define OS_LOWEST_PRIO (BENCH_PRIORITIES + 2 + OS_BENCH_CEILINGS)
#endif
#endif
#ifndef OS_TICKS_PER_SEC
#define OS_TICKS_PER_SEC 1000
#endif

/* Objects. */
#define OS_MAX_TASKS (OS_LOWEST_PRIO - OS_BENCH_CEILINGS)
#define OS_MAX_EVENTS 16
#define OS_MAX_FLAGS 4
#define OS_MAX_MEM_PART 4
#define OS_MAX_QS 4

/* No task of its own but the idle task. How deep a stack was used is told on demand, at no cost before. Words. */
#define OS_TASK_STAT_EN 0
#define OS_TASK_STAT_STK_CHK_EN 1
#define OS_TMR_EN 0
#ifdef BOARD_LIMITS_IDLE_STACK_BYTES
#define OS_TASK_IDLE_STK_SIZE (BOARD_LIMITS_IDLE_STACK_BYTES / 4)
#else
#define OS_TASK_IDLE_STK_SIZE 128
#endif
#define OS_TASK_STAT_STK_SIZE 0
#define OS_TASK_TMR_STK_SIZE 0
#define OS_TMR_CFG_MAX 0
#define OS_TMR_CFG_NAME_EN 0
#define OS_TMR_CFG_WHEEL_SIZE 0
#define OS_TMR_CFG_TICKS_PER_SEC 1
#define OS_TLS_TBL_SIZE 0
#define OS_TASK_REG_TBL_SIZE 0

/* Services. */
#define OS_EVENT_MULTI_EN 0
#define OS_SCHED_LOCK_EN 0
#define OS_TASK_CHANGE_PRIO_EN 0
#define OS_TASK_CREATE_EN 0
#define OS_TASK_CREATE_EXT_EN 1
#define OS_TASK_DEL_EN 0
#define OS_TASK_QUERY_EN 0
#define OS_TASK_SUSPEND_EN 1
#define OS_FLAG_EN 1
#define OS_FLAG_ACCEPT_EN 0
#define OS_FLAG_DEL_EN 0
#define OS_FLAG_NAME_EN 0
#define OS_FLAG_QUERY_EN 0
#define OS_FLAG_WAIT_CLR_EN 0
#define OS_FLAGS_NBITS 32
#define OS_MBOX_EN 1
#define OS_MBOX_ACCEPT_EN 0
#define OS_MBOX_DEL_EN 0
#define OS_MBOX_PEND_ABORT_EN 0
#define OS_MBOX_POST_EN 1
#define OS_MBOX_POST_OPT_EN 0
#define OS_MBOX_QUERY_EN 0
#define OS_MEM_EN 1
#define OS_MEM_NAME_EN 0
#define OS_MEM_QUERY_EN 0
#define OS_MUTEX_EN 1
#define OS_MUTEX_ACCEPT_EN 1
#define OS_MUTEX_DEL_EN 0
#define OS_MUTEX_QUERY_EN 0
#define OS_Q_EN 1
#define OS_Q_ACCEPT_EN 0
#define OS_Q_DEL_EN 0
#define OS_Q_FLUSH_EN 0
#define OS_Q_PEND_ABORT_EN 0
#define OS_Q_POST_EN 1
#define OS_Q_POST_FRONT_EN 0
#define OS_Q_POST_OPT_EN 0
#define OS_Q_QUERY_EN 0
#define OS_SEM_EN 1
#define OS_SEM_ACCEPT_EN 1
#define OS_SEM_DEL_EN 0
#define OS_SEM_PEND_ABORT_EN 0
#define OS_SEM_QUERY_EN 1
#define OS_SEM_SET_EN 0
#define OS_TIME_DLY_HMSM_EN 0
#define OS_TIME_DLY_RESUME_EN 0
#define OS_TIME_GET_SET_EN 1

#endif
