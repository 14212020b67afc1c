/* µC/OS-III's configuration for benchmarks. A value may be overridden from the build (KERNEL_CONFIG="name=value;...")
 * where it stands here behind a guard; all are in build-info.json. */
#ifndef OS_CFG_H
#define OS_CFG_H

#include "bench_config.h"
#include "bench_kernel_config_overrides.h"

/* The kernel checks nothing, as other kernels do with their assertions off. */
#ifndef OS_CFG_ARG_CHK_EN
#define OS_CFG_ARG_CHK_EN 0
#endif
#ifndef OS_CFG_CALLED_FROM_ISR_CHK_EN
#define OS_CFG_CALLED_FROM_ISR_CHK_EN 0
#endif
#ifndef OS_CFG_INVALID_OS_CALLS_CHK_EN
#define OS_CFG_INVALID_OS_CALLS_CHK_EN 0
#endif
#ifndef OS_CFG_OBJ_CREATED_CHK_EN
#define OS_CFG_OBJ_CREATED_CHK_EN 0
#endif
#ifndef OS_CFG_OBJ_TYPE_CHK_EN
#define OS_CFG_OBJ_TYPE_CHK_EN 0
#endif
#ifndef OS_CFG_TASK_STK_REDZONE_EN
#define OS_CFG_TASK_STK_REDZONE_EN 0
#endif
#define OS_CFG_TASK_STK_REDZONE_DEPTH 8

/* Nor does it record anything. */
#ifndef OS_CFG_DBG_EN
#define OS_CFG_DBG_EN 0
#endif
#ifndef OS_CFG_TASK_PROFILE_EN
#define OS_CFG_TASK_PROFILE_EN 0
#endif
#define OS_CFG_TS_EN 0
#define OS_CFG_SCHED_LOCK_TIME_MEAS_EN 0
#define OS_CFG_TRACE_EN 0
#define OS_CFG_TRACE_API_ENTER_EN 0
#define OS_CFG_TRACE_API_EXIT_EN 0
#ifndef OS_CFG_APP_HOOKS_EN
#define OS_CFG_APP_HOOKS_EN 0
#endif

/* Scheduling. A yield is part of round robin; the port makes its quantum as long as can be. */
#ifndef OS_CFG_PRIO_MAX
#if BENCH_PRIORITIES <= 6
#define OS_CFG_PRIO_MAX 8
#else
#define OS_CFG_PRIO_MAX (BENCH_PRIORITIES + 2)
#endif
#endif
#define OS_CFG_SCHED_ROUND_ROBIN_EN 1
#define OS_CFG_TICK_EN 1
#define OS_CFG_DYN_TICK_EN 0
#define OS_CFG_TASK_IDLE_EN 1

/* No task of its own but the idle task. How deep a stack was used is told on demand, at no cost before. */
#define OS_CFG_STAT_TASK_EN 0
#define OS_CFG_STAT_TASK_STK_CHK_EN 1
#define OS_CFG_TMR_EN 0
#define OS_CFG_TMR_DEL_EN 0

#define OS_CFG_STK_SIZE_MIN 64
#define OS_CFG_TLS_TBL_SIZE 0
#define OS_CFG_TASK_REG_TBL_SIZE 0

/* Services. */
#define OS_CFG_FLAG_EN 1
#define OS_CFG_FLAG_DEL_EN 0
#define OS_CFG_FLAG_MODE_CLR_EN 0
#define OS_CFG_FLAG_PEND_ABORT_EN 0
#define OS_CFG_MEM_EN 1
#define OS_CFG_MUTEX_EN 1
#define OS_CFG_MUTEX_DEL_EN 0
#define OS_CFG_MUTEX_PEND_ABORT_EN 0
#define OS_CFG_Q_EN 1
#define OS_CFG_Q_DEL_EN 0
#define OS_CFG_Q_FLUSH_EN 0
#define OS_CFG_Q_PEND_ABORT_EN 0
#define OS_CFG_SEM_EN 1
#define OS_CFG_SEM_DEL_EN 0
#define OS_CFG_SEM_PEND_ABORT_EN 0
#define OS_CFG_SEM_SET_EN 0
#define OS_CFG_TASK_CHANGE_PRIO_EN 1
#define OS_CFG_TASK_DEL_EN 0
#define OS_CFG_TASK_Q_EN 0
#define OS_CFG_TASK_Q_PEND_ABORT_EN 0
#define OS_CFG_TASK_SEM_PEND_ABORT_EN 0
#define OS_CFG_TASK_SUSPEND_EN 1
#define OS_CFG_TIME_DLY_HMSM_EN 0
#define OS_CFG_TIME_DLY_RESUME_EN 0

#endif
