/* The service `affinity` of the port contract: a task is bound to another core than it was created for.
 *
 * A task that binds itself to another core continues there before the call returns. It may be called while the kernel runs, by
 * a task, on several cores. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_AFFINITY
#error "This kernel lacks the service affinity; see kernel.toml."
#elif BENCH_CORES < 2
#error "The service affinity needs two cores."
#elif !__has_include(<port_affinity.h>)
#error "The service affinity is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=affinity."
#else
#include <port_affinity.h>
#endif

PORT_IS(port_affinity_set, void(port_task_t, unsigned)); /* task, core */
