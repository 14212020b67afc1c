/* The timer task: as urgent as the control task, more than every task of a benchmark. It counts in ticks. */
#pragma once

#include_next "os_cfg_app.h"

#undef OS_CFG_TMR_TASK_PRIO
#undef OS_CFG_TMR_TASK_RATE_HZ
#undef OS_CFG_TMR_TASK_STK_SIZE
#define OS_CFG_TMR_TASK_PRIO 0
#define OS_CFG_TMR_TASK_RATE_HZ OS_CFG_TICK_RATE_HZ
#ifdef BOARD_LIMITS_IDLE_STACK_BYTES
#define OS_CFG_TMR_TASK_STK_SIZE (BOARD_LIMITS_IDLE_STACK_BYTES / 4)
#else
#define OS_CFG_TMR_TASK_STK_SIZE 128
#endif
