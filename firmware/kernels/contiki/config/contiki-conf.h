/* Contiki-NG's configuration for benchmarks. A value may be overridden from the build (KERNEL_CONFIG="name=value;...") where
 * it stands here behind a guard; all are in build-info.json. */
#ifndef CONTIKI_CONF_H
#define CONTIKI_CONF_H

#include <stdint.h>

#include "bench_board_facts.h"
#include "bench_kernel_config_overrides.h"

#ifndef CLOCK_CONF_SECOND
#define CLOCK_CONF_SECOND 1000
#endif
#define CLOCK_CONF_SIZE 4

/* The heap is the board's allowance. */
#ifndef HEAPMEM_CONF_ARENA_SIZE
#define HEAPMEM_CONF_ARENA_SIZE BOARD_LIMITS_HEAP_BYTES
#endif
#ifndef HEAPMEM_CONF_SEARCH_MAX
#define HEAPMEM_CONF_SEARCH_MAX 16
#endif

/* Messages of the kernel's log lead nowhere. */
#define LOG_CONF_OUTPUT(...) ((void)0)
#define LOG_CONF_OUTPUT_PREFIX(level, name, module) ((void)0)
#define HEAPMEM_CONF_PRINTF(...) ((void)0)
#define PROCESS_CONF_NO_PROCESS_NAMES 0

#endif
