/* Configuration of the kernel's RP2040 port. */
#pragma once

/* The vector table is ours and static: the port's handlers take its slots by name. */
#define configUSE_DYNAMIC_EXCEPTION_HANDLERS 0
#define configSUPPORT_PICO_SYNC_INTEROP 0
#define configSUPPORT_PICO_TIME_INTEROP 0

/* No count-leading-zeros on ARMv6-M, and not available for SMP. */
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0

/* No BASEPRI: the kernel masks with PRIMASK, so a handler of any level may call it. */
#define configBENCH_ISR_URGENCY 0

/* The two hardware spinlocks of the SMP port; the numbers users of the chip's SDK get. */
#ifndef configSMP_SPINLOCK_0
#define configSMP_SPINLOCK_0 14
#endif
#ifndef configSMP_SPINLOCK_1
#define configSMP_SPINLOCK_1 15
#endif

/* 1: each context switch saves and restores the SIO divider, the port's default. No code of this image uses the
 * divider (the compiler's division is plain code), so 0 is safe too, and shows what the saving costs. */
#ifndef configBENCH_SAVE_DIVIDER
#define configBENCH_SAVE_DIVIDER 1
#endif
