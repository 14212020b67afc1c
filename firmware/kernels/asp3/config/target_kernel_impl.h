/* What ASP3's own files want to know of a target. */
#ifndef TOPPERS_TARGET_KERNEL_IMPL_H
#define TOPPERS_TARGET_KERNEL_IMPL_H

#include "bench_board_facts.h"

#define CPU_CLOCK_HZ BOARD_CLOCK_SYS_HZ
#define TMAX_INTNO (BOARD_IRQ_LINES + 15)
#define DEFAULT_ISTKSZ 1024
/* The kernel's start is the port's: no file of the kernel fills memory, or reports exceptions. */
#define OMIT_DEFAULT_EXC_HANDLER
#define OMIT_DEFAULT_INT_HANDLER
#define SIL_DLY_TIM1 10
#define SIL_DLY_TIM2 10

#include <sil.h>

#ifndef TOPPERS_MACRO_ONLY
void target_initialize(void);
void target_exit(void) NoReturn;
#endif

#include "core_kernel_impl.h"

#endif
