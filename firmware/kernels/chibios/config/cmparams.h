/* What the kernel's port wants to know of a core, for any board: the core's own exceptions, and what it was made with.
 * No peripheral of a chip is needed by the kernel. Assembler files include it too. */
#ifndef CMPARAMS_H
#define CMPARAMS_H

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

#define CORTEX_MODEL CHIBIOS_BENCH_CORE_MODEL
#define CORTEX_PRIORITY_BITS BOARD_IRQ_PRIORITY_BITS
#define CORTEX_NUM_VECTORS ((BOARD_IRQ_LINES + 7) / 8 * 8)
#if defined(__ARM_FP)
#define CORTEX_HAS_FPU 1
#else
#define CORTEX_HAS_FPU 0
#endif

/* ARMv7-M: critical zones mask interrupts by level (FALSE) or all of them (TRUE). */
#ifndef CORTEX_SIMPLIFIED_PRIORITY
#define CORTEX_SIMPLIFIED_PRIORITY FALSE
#endif

/* ARMv6-M: an interrupt's end leads back through PendSV. The other way needs the NMI, which is the board's. */
#if CORTEX_MODEL == 0 && !defined(CORTEX_ALTERNATE_SWITCH)
#define CORTEX_ALTERNATE_SWITCH TRUE
#endif

/* With two cores: the hardware spinlock that guards the kernel, another one than the board's, and no memory of their own
 * for the cores' instances, whose place is the linker script's matter. */
#ifdef CHIBIOS_BENCH_TWO_CORES
#ifndef PORT_SPINLOCK_NUMBER
#define PORT_SPINLOCK_NUMBER 30
#endif
#define PORT_CORE0_BSS_SECTION
#define PORT_CORE1_BSS_SECTION
#endif

#if !defined(_FROM_ASM_)

#include <stdint.h>

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
#define __FPU_PRESENT CORTEX_HAS_FPU

#include CHIBIOS_BENCH_CORE_HEADER

#ifdef CHIBIOS_BENCH_TWO_CORES
#include "rp2040_cores.h"
#endif

#endif
#endif
