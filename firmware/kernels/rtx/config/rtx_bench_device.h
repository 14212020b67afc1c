/* What CMSIS wants a device header to say, for any board: the core's own exceptions, and what the core was made with.
 * No peripheral of a chip is needed by the kernel. */
#ifndef RTX_BENCH_DEVICE_H
#define RTX_BENCH_DEVICE_H

#include <stdint.h>

#include "bench_board_facts.h"

typedef enum {
    NonMaskableInt_IRQn = -14,
    HardFault_IRQn = -13,
    SVCall_IRQn = -5,
    PendSV_IRQn = -2,
    SysTick_IRQn = -1
} IRQn_Type;

#define __NVIC_PRIO_BITS BOARD_IRQ_PRIORITY_BITS
#define __Vendor_SysTickConfig 0
#define __MPU_PRESENT 0
#define __VTOR_PRESENT 1
#if defined(__ARM_FP)
#define __FPU_PRESENT 1
#else
#define __FPU_PRESENT 0
#endif

#include RTX_BENCH_CORE_HEADER

extern uint32_t SystemCoreClock;

#endif
