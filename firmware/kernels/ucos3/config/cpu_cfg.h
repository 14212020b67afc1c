/* Configuration of µC/CPU, the part of the kernel that knows the processor. */
#ifndef CPU_CFG_MODULE_PRESENT
#define CPU_CFG_MODULE_PRESENT

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

/* ARMv7-M: what the kernel masks, and the most urgent level from which handlers may call it. 0 is not allowed. */
#define CPU_CFG_NVIC_PRIO_BITS BOARD_IRQ_PRIORITY_BITS
#ifndef CPU_CFG_KA_IPL_BOUNDARY
#define CPU_CFG_KA_IPL_BOUNDARY 4
#endif

/* No time stamps, no names, no measurement of its own; CPU_CFG_INT_DIS_MEAS_EN is on where it is defined at all. */
#define CPU_CFG_NAME_EN DEF_DISABLED
#define CPU_CFG_NAME_SIZE 1
#define CPU_CFG_TS_32_EN DEF_DISABLED
#define CPU_CFG_TS_64_EN DEF_DISABLED
#define CPU_CFG_TS_TMR_SIZE CPU_WORD_SIZE_32
#define CPU_CFG_INT_DIS_MEAS_OVRHD_NBR 1
#define CPU_CFG_CACHE_MGMT_EN DEF_DISABLED

#endif
