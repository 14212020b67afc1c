/* Undoes target_rename.h. */
#ifdef TOPPERS_TARGET_RENAME_H
#undef TOPPERS_TARGET_RENAME_H

#undef target_initialize
#undef target_exit

#include "chip_unrename.h"

#endif
