/* µC/OS-II's configuration in images with timers: the kernel's timer task, which every tick wakes. It is more urgent than all
 * tasks. */
#pragma once

#include_next "os_cfg.h"

#undef OS_TMR_EN
#undef OS_TASK_TMR_STK_SIZE
#undef OS_TMR_CFG_MAX
#undef OS_TMR_CFG_WHEEL_SIZE
#undef OS_TMR_CFG_TICKS_PER_SEC
#undef OS_SCHED_LOCK_EN
#undef OS_TIME_TICK_HOOK_EN
#define OS_TMR_EN 1
#ifdef BOARD_LIMITS_IDLE_STACK_BYTES
#define OS_TASK_TMR_STK_SIZE (BOARD_LIMITS_IDLE_STACK_BYTES / 4)
#else
#define OS_TASK_TMR_STK_SIZE 128
#endif
#define OS_TMR_CFG_MAX 9
#define OS_TMR_CFG_WHEEL_SIZE 8
#define OS_TMR_CFG_TICKS_PER_SEC OS_TICKS_PER_SEC
/* In the tick's hook the kernel's port wakes the timer task. */
#define OS_TIME_TICK_HOOK_EN 1
/* The timer task locks the scheduler. */
#define OS_SCHED_LOCK_EN 1
/* The number of the last mutex, of which there is one less. */
#define OS_TASK_TMR_PRIO (OS_BENCH_CEILINGS - 1)
#undef OS_MAX_TASKS
#define OS_MAX_TASKS (OS_LOWEST_PRIO - OS_BENCH_CEILINGS + 1)

#ifdef PORT_TIMER_HEAP_BYTES
#undef BOARD_LIMITS_HEAP_BYTES
#define BOARD_LIMITS_HEAP_BYTES PORT_TIMER_HEAP_BYTES
#endif
