/* The rows of an ARMv7-M core in the order in which they run. */
#include "../bench_calibration.h"
#include "bench_rows.h"

#define ROW(id, count) {#id, count, row_##id},

const struct row rows[] = {
    ROWS_ALWAYS(ROW)
#if BENCH_PARAM_BIT_BAND
    ROWS_OF_BIT_BANDS(ROW)
#endif
#if BENCH_PARAM_LINE_RAM
    ROWS_OF_CACHES(ROW)
#endif
#if BENCH_PARAM_NEAR_READ
    ROWS_OF_DOMAINS(ROW)
#endif
};
const size_t row_count = sizeof rows / sizeof rows[0];
