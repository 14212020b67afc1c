/* The rows of an ARMv6-M core in the order in which they run. */
#include "bench_rows.h"
#include "../bench_calibration.h"

#define ROW(id, count) {#id, count, row_##id},

const struct row rows[] = {
    ROWS_ALWAYS(ROW)
#if BENCH_PARAM_IO_PORT
    ROWS_OF_IO_PORT(ROW)
#endif
#if BENCH_PARAM_AHB_READ
    ROWS_OF_BUSES(ROW)
#endif
#if BENCH_PARAM_APB2_DIVIDER
    ROWS_OF_DIVIDED_APB2(ROW)
#endif
#if BENCH_PARAM_XIP_CONTROL
    ROWS_OF_RP2040(ROW)
#endif
};
const size_t row_count = sizeof rows / sizeof rows[0];
