/* RTX5's configuration in images with timers: the kernel's timer thread, and the queue by which the tick's handler tells it
 * of timers that have expired. */
#pragma once

#include_next "RTX_Config.h"

#undef OS_TIMER_THREAD_STACK_SIZE
#undef OS_TIMER_CB_QUEUE
#undef OS_TIMER_THREAD_PRIO
#define OS_TIMER_THREAD_STACK_SIZE 512
#define OS_TIMER_CB_QUEUE 4
/* osPriorityRealtime7: as urgent as the control task, more than every task of a benchmark. */
#define OS_TIMER_THREAD_PRIO 55
