/* RTX5's configuration for benchmarks, read by each of its files, the assembler's too. A value may be overridden from the
 * build (KERNEL_CONFIG="name=value;...") where it stands here behind a guard; all are in build-info.json. */
#ifndef RTX_CONFIG_H_
#define RTX_CONFIG_H_

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

#ifndef OS_TICK_FREQ
#define OS_TICK_FREQ 1000
#endif
/* 1: equal threads share time by the tick, OS_ROBIN_TIMEOUT ticks each. */
#ifndef OS_ROBIN_ENABLE
#define OS_ROBIN_ENABLE 0
#endif
#ifndef OS_ROBIN_TIMEOUT
#define OS_ROBIN_TIMEOUT 5
#endif
#ifndef OS_STACK_CHECK
#define OS_STACK_CHECK 0
#endif
/* Stacks are filled as threads are made: it costs nothing later, and tells how deep they were used. */
#ifndef OS_STACK_WATERMARK
#define OS_STACK_WATERMARK 1
#endif
/* Threads that what handlers have done waits for the switch's handler to do. */
#ifndef OS_ISR_FIFO_QUEUE
#define OS_ISR_FIFO_QUEUE 16
#endif
#ifndef OS_SAFETY_FEATURES
#define OS_SAFETY_FEATURES 0
#endif
#ifndef OS_OBJ_MEM_USAGE
#define OS_OBJ_MEM_USAGE 0
#endif

/* Objects, control blocks and stacks come from the kernel's own memory, as much as the board allows. */
#define OS_DYNAMIC_MEM_SIZE BOARD_LIMITS_HEAP_BYTES
#define OS_THREAD_OBJ_MEM 0
#define OS_TIMER_OBJ_MEM 0
#define OS_EVFLAGS_OBJ_MEM 0
#define OS_MUTEX_OBJ_MEM 0
#define OS_SEMAPHORE_OBJ_MEM 0
#define OS_MEMPOOL_OBJ_MEM 0
#define OS_MSGQUEUE_OBJ_MEM 0

/* Each thread is asked for with its own size. */
#define OS_STACK_SIZE 512
#ifndef OS_IDLE_THREAD_STACK_SIZE
#define OS_IDLE_THREAD_STACK_SIZE 256
#endif
#define OS_IDLE_THREAD_NAME "idle"
/* Time-outs need no timer; without a stack and a queue for it the kernel makes no thread for timers. */
#define OS_TIMER_THREAD_STACK_SIZE 0
#define OS_TIMER_CB_QUEUE 0
#define OS_TIMER_THREAD_PRIO 40

/* Benchmarks' tasks share the handler's privilege, as on every other kernel here. */
#define OS_PRIVILEGE_MODE 1
#define OS_THREAD_LIBSPACE_NUM 1

/* The event recorder is a component of its own; not even calls to it are left. */
#define OS_EVR_INIT 0
#define OS_EVR_MEMORY 0
#define OS_EVR_KERNEL 0
#define OS_EVR_THREAD 0
#define OS_EVR_WAIT 0
#define OS_EVR_THFLAGS 0
#define OS_EVR_EVFLAGS 0
#define OS_EVR_TIMER 0
#define OS_EVR_MUTEX 0
#define OS_EVR_SEMAPHORE 0
#define OS_EVR_MEMPOOL 0
#define OS_EVR_MSGQUEUE 0

#endif
