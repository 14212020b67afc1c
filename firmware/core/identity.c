/* What the image says it is: all that only this image has, so that every other file of the core is compiled once for many
 * images. */
#include "bench/port.h"
#include "bench_identity.h"

const struct bench_identity bench_identity = {
    .run = BENCH_RUN_ID,
    .bench = BENCH_ID,
    .window_us = (uint64_t)BENCH_WINDOW_MS * 1000u,
    .manifest = BENCH_MANIFEST,
};

const struct bench_param bench_params[] = {
#define PARAM(name, value) {name, value},
    BENCH_PARAMS(PARAM)
#undef PARAM
    {"tick_hz", PORT_TICK_HZ},
    {"time_slice_ticks", PORT_TIME_SLICE_TICKS},
};

const size_t bench_param_count = sizeof bench_params / sizeof bench_params[0];
