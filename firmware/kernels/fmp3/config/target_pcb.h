/* The part of a processor's control block that belongs to the target: that of the core. */
#ifndef TOPPERS_TARGET_PCB_H
#define TOPPERS_TARGET_PCB_H

#include "core_pcb.h"

#endif
