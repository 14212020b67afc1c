/* What FMP3 and its applications want to know of a target. */
#ifndef TOPPERS_TARGET_KERNEL_H
#define TOPPERS_TARGET_KERNEL_H

#define PRC1 1
#define PRC2 2
#define TOPPERS_MASTER_PRCID PRC1
#define TOPPERS_TMASTER_PRCID PRC1
/* Each processor handles its own time events. */
#define TOPPERS_TEPP_PRC ((1 << TNUM_PRCID) - 1)
/* The kernel's time advances by a tick. It counts microseconds. */
#ifndef TSTEP_HRTCNT
#define TSTEP_HRTCNT 1000U
#endif

#include "chip_kernel.h"

#endif
