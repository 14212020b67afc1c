/* What FMP3's own files want to know of a target. */
#ifndef TOPPERS_TARGET_KERNEL_IMPL_H
#define TOPPERS_TARGET_KERNEL_IMPL_H

#include "bench_board_facts.h"

#define CPU_CLOCK_HZ BOARD_CLOCK_SYS_HZ
#define TMAX_INTNO (BOARD_IRQ_LINES + 15)
#define DEFAULT_ISTKSZ 0x1000
#define DEFAULT_IDSTKSZ 0x0100U
/* The board's code takes spinlock 31. */
#define SPINLOCK_NO_FOR_GIANT_LOCK 29
/* The kernel's start is the port's: no file of the kernel reports exceptions. */
#define OMIT_DEFAULT_EXC_HANDLER
#define OMIT_DEFAULT_INT_HANDLER
/* The clock of time events needs no setting, so no processor asks another one to set it. */
#define TOPPERS_SUPPORT_CONTROL_OTHER_HRT
#define SIL_DLY_TIM1 79
#define SIL_DLY_TIM2 50

#include <sil.h>

#ifndef TOPPERS_MACRO_ONLY
void target_initialize(PCB *p_my_pcb);
void target_exit(void) NoReturn;
#endif

#include "chip_kernel_impl.h"

/* Version 3.4.0 asks for this, but its files for the RP2040 lack it. */
#ifndef try_glock
#define try_glock() try_lock(giant_lock)
#endif

#endif
