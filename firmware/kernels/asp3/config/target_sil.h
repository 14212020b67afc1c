/* What ASP3's layer for access to hardware wants to know of a chip: the bits of its interrupt priorities. */
#ifndef TOPPERS_TARGET_SIL_H
#define TOPPERS_TARGET_SIL_H

#include "bench_board_facts.h"

#define SIL_ENDIAN_LITTLE
#define TBITW_IPRI BOARD_IRQ_PRIORITY_BITS

#include "core_sil.h"
#ifndef TOPPERS_MACRO_ONLY
#include "core_insn.h"

#define sil_orw(address, bits) sil_wrw_mem((address), (uint32_t)(sil_rew_mem(address) | (bits)))
#define sil_andw(address, bits) sil_wrw_mem((address), (uint32_t)(sil_rew_mem(address) & (bits)))
#endif

#endif
