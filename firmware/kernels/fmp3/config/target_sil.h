/* What FMP3's layer for access to hardware wants to know of a target. */
#ifndef TOPPERS_TARGET_SIL_H
#define TOPPERS_TARGET_SIL_H

#define SPINLOCK_NO_FOR_SIL_LOCK 30

#include "chip_sil.h"

#endif
