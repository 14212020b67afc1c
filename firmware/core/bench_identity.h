/* What an image says of itself in its first records. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct bench_identity {
    const char *run;   /* 16 hexadecimal digits, in the first record and the last */
    const char *bench; /* the benchmark's folder */
    uint64_t window_us;
    uint32_t manifest;
};

struct bench_param {
    const char *name;
    uint32_t value;
};

extern const struct bench_identity bench_identity;
extern const struct bench_param bench_params[];
extern const size_t bench_param_count;
