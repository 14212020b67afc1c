/* The rows of an ARMv6-M core in the order in which they run. */
#include "../bench_calibration.h"
#include "bench_rows.h"

#define ROW(id, count) {#id, count, row_##id},

const struct row rows[] = {
    ROWS_ALWAYS(ROW)
#if BENCH_PARAM_APB1_DIVIDER
    ROWS_OF_A_DIVIDER(ROW)
#endif
#if BENCH_PARAM_XIP_WORD
    ROWS_OF_XIP(ROW)
#endif
};
const size_t row_count = sizeof rows / sizeof rows[0];
