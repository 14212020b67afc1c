/* What FMP3 wants to know of a compiler and a target in every file, also in assembler. */
#ifndef TOPPERS_TARGET_STDDEF_H
#define TOPPERS_TARGET_STDDEF_H

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

#ifndef TOPPERS_MACRO_ONLY
#include <stdint.h>
#endif
#include "tool_stddef.h"
#include "chip_stddef.h"

/* The kernel checks nothing but its calls' arguments, as by default. */
#ifndef FMP3_BENCH_ASSERT
#define FMP3_BENCH_ASSERT 0
#endif
#if !FMP3_BENCH_ASSERT && !defined(NDEBUG)
#define NDEBUG 1
#endif

#ifndef TOPPERS_MACRO_ONLY
void port_assert_failed(void);

static inline void TOPPERS_assert_abort(void)
{
    port_assert_failed();
}
#endif

#endif
