/* The kernel's names for what a target defines, with the prefix of all its names. */
#ifndef TOPPERS_TARGET_RENAME_H
#define TOPPERS_TARGET_RENAME_H

#define target_initialize _kernel_target_initialize
#define target_exit _kernel_target_exit

#include "chip_rename.h"

#endif
