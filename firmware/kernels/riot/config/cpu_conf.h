/* What RIOT wants to know of a core, for any board: the core's own exceptions, and what it was made with. No peripheral of a
 * chip is needed by the kernel. */
#ifndef CPU_CONF_H
#define CPU_CONF_H

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

#include RIOT_BENCH_CORE_HEADER

#include "cpu_conf_common.h"

#define CPU_DEFAULT_IRQ_PRIO 0
#define CPU_IRQ_NUMOF BOARD_IRQ_LINES
#define CPU_HAS_BITBAND 0

#endif
