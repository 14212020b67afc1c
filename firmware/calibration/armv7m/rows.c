/* The rows of an ARMv7-M core in the order in which they run. */
#include "bench_rows.h"
#include "../bench_calibration.h"

#define ROW(id, count) {#id, count, row_##id},

const struct row rows[] = {
    ROWS_ALWAYS(ROW)
#if BENCH_PARAM_AHB_READ
    ROWS_OF_BUSES(ROW)
#endif
#if BENCH_PARAM_BIT_BAND
    {"bit_band", 1, row_bit_band_stores},
#endif
#if BENCH_PARAM_AXI_RAM
    ROWS_OF_M7(ROW)
#endif
#if BENCH_PARAM_APB2_DIVIDER
    ROWS_OF_DIVIDED_APB2(ROW)
#endif
#if BENCH_PARAM_NEAR_READ
    ROWS_OF_DOMAINS(ROW)
#endif
};
const size_t row_count = sizeof rows / sizeof rows[0];
