/* How processors interrupt each other: the chip's way. */
#ifndef TOPPERS_TARGET_IPI_H
#define TOPPERS_TARGET_IPI_H

#include "chip_ipi.h"

#endif
