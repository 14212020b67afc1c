/* Sizes and rates of µC/OS-III; stacks in words. */
#ifndef OS_CFG_APP_H
#define OS_CFG_APP_H

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

#ifndef OS_CFG_TICK_RATE_HZ
#define OS_CFG_TICK_RATE_HZ 1000
#endif
/* Messages that all queues together can hold. */
#ifndef OS_CFG_MSG_POOL_SIZE
#define OS_CFG_MSG_POOL_SIZE 32
#endif
#ifdef BOARD_LIMITS_IDLE_STACK_BYTES
#define OS_CFG_IDLE_TASK_STK_SIZE (BOARD_LIMITS_IDLE_STACK_BYTES / 4)
#else
#define OS_CFG_IDLE_TASK_STK_SIZE 128
#endif
/* 0: handlers run on the main stack, as they did before the kernel started. */
#define OS_CFG_ISR_STK_SIZE 0
#define OS_CFG_TASK_STK_LIMIT_PCT_EMPTY 0

/* Of tasks that os_cfg.h leaves out. */
#define OS_CFG_STAT_TASK_PRIO 0
#define OS_CFG_STAT_TASK_RATE_HZ 1
#define OS_CFG_STAT_TASK_STK_SIZE 0
#define OS_CFG_TMR_TASK_PRIO 0
#define OS_CFG_TMR_TASK_RATE_HZ 1
#define OS_CFG_TMR_TASK_STK_SIZE 0

#endif
