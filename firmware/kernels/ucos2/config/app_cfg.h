/* What µC/OS-II's port for a core asks of the application. */
#ifndef APP_CFG_H
#define APP_CFG_H

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

/* ARMv7-M: what the kernel masks, and the most urgent level from which handlers may call it. 0 is not allowed. */
#define CPU_CFG_NVIC_PRIO_BITS BOARD_IRQ_PRIORITY_BITS
#ifndef CPU_CFG_KA_IPL_BOUNDARY
#define CPU_CFG_KA_IPL_BOUNDARY 4
#endif

/* Words of the kernel's own stack for handlers, which the port leaves alone: they run on the main stack. */
#define OS_CPU_EXCEPT_STK_SIZE 2

#endif
