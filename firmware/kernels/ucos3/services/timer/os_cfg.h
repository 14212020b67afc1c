/* µC/OS-III's configuration in images with timers: the kernel's timer task. */
#pragma once

#include_next "os_cfg.h"

#undef OS_CFG_TMR_EN
#define OS_CFG_TMR_EN 1
