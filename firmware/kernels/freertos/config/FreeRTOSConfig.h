/* FreeRTOS configuration for benchmarks. Every value may be overridden from the build (KERNEL_CONFIG="name=value;...")
 * and every final value is recorded in build-info.json: a number is only comparable to one with the same values. */
#pragma once

#include "bench_board_facts.h"
#include "bench_config.h"
#include "bench_kernel_config_overrides.h"

/* Scheduling. Time slicing is off: a tick between two equal tasks would switch them at a random point of their loop and
 * T2 would no longer rotate evenly; with it off a tick only ever counts time here. */
#ifndef configUSE_PREEMPTION
#define configUSE_PREEMPTION 1
#endif
#ifndef configUSE_TIME_SLICING
#define configUSE_TIME_SLICING 0
#endif
#ifndef configTICK_RATE_HZ
#define configTICK_RATE_HZ 1000
#endif
/* Below those of the benchmark the idle task's, above them the control task's. */
#ifndef configMAX_PRIORITIES
#if BENCH_PRIORITIES <= 6
#define configMAX_PRIORITIES 8
#else
#define configMAX_PRIORITIES (BENCH_PRIORITIES + 2)
#endif
#endif
#ifndef configIDLE_SHOULD_YIELD
#define configIDLE_SHOULD_YIELD 1
#endif
#ifndef configUSE_TICKLESS_IDLE
#define configUSE_TICKLESS_IDLE 0
#endif
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configCPU_CLOCK_HZ BOARD_CLOCK_SYS_HZ

/* Cores */
#define configNUMBER_OF_CORES BENCH_CORES
#define configTICK_CORE 0
#if BENCH_CORES > 1
#ifndef configRUN_MULTIPLE_PRIORITIES
#define configRUN_MULTIPLE_PRIORITIES 1
#endif
#define configUSE_CORE_AFFINITY 1
#define configUSE_PASSIVE_IDLE_HOOK 0
#define configUSE_TASK_PREEMPTION_DISABLE 0
#endif

/* Memory: heap_4, everything dynamic, as most applications start out. Sizes are what the board's memory allows. */
#ifndef configTOTAL_HEAP_SIZE
#define configTOTAL_HEAP_SIZE BOARD_LIMITS_HEAP_BYTES
#endif
#ifndef configMINIMAL_STACK_SIZE
#ifdef BOARD_LIMITS_IDLE_STACK_BYTES
#define configMINIMAL_STACK_SIZE (BOARD_LIMITS_IDLE_STACK_BYTES / 4)
#else
#define configMINIMAL_STACK_SIZE 128
#endif
#endif
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 0
#ifndef configENABLE_HEAP_PROTECTOR
#define configENABLE_HEAP_PROTECTOR 0
#endif
#define configMAX_TASK_NAME_LEN 12

/* Services */
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
/* Setting event bits from a handler goes through the timer task; only then, or for software timers, there is one. */
#ifndef configUSE_TIMERS
#define configUSE_TIMERS BENCH_NEEDS_EVENT_FROM_ISR
#endif
#define configTIMER_TASK_PRIORITY (configMAX_PRIORITIES - 1)
#define configTIMER_QUEUE_LENGTH 2
#define configTIMER_TASK_STACK_DEPTH configMINIMAL_STACK_SIZE
#define configUSE_CO_ROUTINES 0
#ifndef configUSE_TRACE_FACILITY
#define configUSE_TRACE_FACILITY 0
#endif
#ifndef configGENERATE_RUN_TIME_STATS
#define configGENERATE_RUN_TIME_STATS 0
#endif
#ifndef configQUEUE_REGISTRY_SIZE
#define configQUEUE_REGISTRY_SIZE 0
#endif

/* Safety nets cost time inside every measured call, so by default they are what a release build has: none. What they
 * would catch is caught outside the window: each service's result is tested, each benchmark proves itself, and each
 * task's stack mark is examined after the window and turns an overflow into the same record.
 * configBENCH_ASSERT=1: the kernel's asserts end a run with a record (seen: T7 takes 1.4 times as long on one core and
 * twice as long on two, where asserts lengthen the time the kernel's locks are held).
 * configCHECK_FOR_STACK_OVERFLOW=2: a check in every switch, for an overflow that kills the run before its end. */
#ifndef configBENCH_ASSERT
#define configBENCH_ASSERT 0
#endif
#ifndef configCHECK_FOR_STACK_OVERFLOW
#define configCHECK_FOR_STACK_OVERFLOW 0
#endif
#define configUSE_MALLOC_FAILED_HOOK 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0

/* This kernel check is itself an assert. */
#ifndef configCHECK_HANDLER_INSTALLATION
#define configCHECK_HANDLER_INSTALLATION configBENCH_ASSERT
#endif
#if configBENCH_ASSERT
_Noreturn void port_assert_failed(const char *file, int line);
#define configASSERT(condition)                   \
    do {                                          \
        if ((condition) == 0) {                   \
            port_assert_failed(__FILE__, __LINE__); \
        }                                         \
    } while (0)
#endif

/* The kernel's own trace points, only where somebody measures by them. */
#if BENCH_NEEDS_HOOKS
void port_hook_tick_begin(void);
void port_hook_tick_end(void);
void port_hook_choice_begin(void);
void port_hook_choice_end(void);
#define traceISR_ENTER() port_hook_tick_begin()
#define traceISR_EXIT() port_hook_tick_end()
#define traceISR_EXIT_TO_SCHEDULER() port_hook_tick_end()
#define traceTASK_SWITCHED_OUT() port_hook_choice_begin()
#define traceTASK_SWITCHED_IN() port_hook_choice_end()
#endif

/* Only what the benchmarks call. */
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskResumeFromISR 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1
#define INCLUDE_uxTaskPriorityGet 1
#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_xTaskGetSchedulerState 1
#define INCLUDE_xTimerPendFunctionCall BENCH_NEEDS_EVENT_FROM_ISR

/* What only the chip's own layer knows, and what an earlier version of the kernel does not know yet. */
#include "freertos_chip_config.h"
#include "freertos_earlier.h"
