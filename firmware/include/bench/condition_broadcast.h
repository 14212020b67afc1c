/* The service `condition_broadcast` of the port contract: one call wakes all tasks that wait for a condition variable.
 *
 * Each task has the mutex when its wait returns, so they continue one after the other. Needs the service `condition`. Only a
 * task calls it, with or without the mutex. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_CONDITION_BROADCAST
#error "This kernel lacks the service condition_broadcast; see kernel.toml."
#elif !__has_include(<port_condition_broadcast.h>)
#error "The service condition_broadcast is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=condition_broadcast."
#else
#include <port_condition_broadcast.h>
#endif

PORT_IS(port_condition_broadcast, void(port_condition_t *));
