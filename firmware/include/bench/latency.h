/* What a latency benchmark adds to bench.h: series of intervals, each written once whatever it is measured with.
 *
 *     bench_start(SERIES_SEMAPHORE_GIVE);
 *     port_semaphore_give(&semaphore);
 *     bench_stop(SERIES_SEMAPHORE_GIVE);
 *
 * The enumerators come from the [[series]] of benchmark.toml. Start and stop may stand in different tasks or in a
 * handler. Intervals MUST NOT overlap: there is one pin and one reading at the start. All of it works in any context.
 *
 * The run ends when every series has BENCH_SAMPLES samples: bench_running() turns false, the bodies return. What a series
 * takes beyond that is dropped, so all series should be taken equally often. benchmark.toml's `limit_ms` bounds the wait.
 *
 * Build option INSTRUMENT says what stands at the two ends (instruments/<name>/instrument.h). Whatever it is, both leave a
 * mark, which is no instruction: an address, the series and which end it is, in a section that is not loaded. The virtual
 * board probes these addresses. Memory accesses and calls do not move across a mark. */
#pragma once

#include "bench/bench.h"
#include "bench/mark.h"
#include "bench_instrument.h"
#include "bench_series.h"

/* Starts the measurement of an interval of this series, and leaves its mark. */
#define bench_start(series)         \
    do {                            \
        instrument_start();         \
        BENCH_MARK_(2 * (series));  \
    } while (0)

/* Starts the measurement of an interval that begins as the measurement's pin rises. It is for what an edge of
 * the wired input sets off, which must not come before the start. The pin must be dropped after the stop,
 * whatever the instrument is. */
#define bench_start_by_pin(series)  \
    do {                            \
        instrument_start_by_pin();  \
        BENCH_MARK_(2 * (series));  \
        board_pin_raise();          \
    } while (0)

/* Ends the measurement of an interval of this series, and keeps its length as a sample. */
#define bench_stop(series)                          \
    do {                                            \
        BENCH_MARK_(2 * (series) + 1);              \
        bench_keep((series), instrument_stop());    \
    } while (0)

/* Keeps a sample of a series that the hardware stamps (benchmark.toml: stamped = "asynchronous"). Such an interval
 * begins with the timer's event, which is no instruction. It ends here, where `cycles` have been read from the timer.
 * Only the image of the instrument `counter` sends such samples, and they contain nothing of the instrument. */
#define bench_stamp(series, cycles)     \
    do {                                \
        BENCH_MARK_(2 * (series) + 1);  \
        bench_keep((series), (cycles)); \
    } while (0)

/* Keeps a sample, or drops it outside the measured window. For bench_stop(). */
void bench_keep(enum bench_series series, uint32_t raw);
