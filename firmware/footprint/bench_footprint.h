/* An image that shows what a kernel weighs. footprint/<name>/ holds a program; what it has over its base (footprint.toml)
 * is one service, so that the difference of the two images is what that service costs.
 *
 * The frame is the least there can be: start-up, clocks, and no records. */
#pragma once

#include "bench/board.h"
#include "bench/port.h"
#include "bench_config.h"

/* Creates the service's kernel objects, before the kernel starts. Returns false if that fails. */
bool footprint_prepare(void);

/* Uses each operation of the service once. The only task calls it for ever, or `main` in an image without tasks. */
void footprint_use(void);

#if KERNEL_SERVICES_TASKS
extern port_task_t footprint_task; /* the one that runs footprint_use() */
#endif
