/* The service `binary_semaphore` of the port contract: the semaphore that the kernel itself calls binary.
 *
 * The port's services/binary_semaphore/port_binary_semaphore.h gives:
 *     port_binary_semaphore_t             a binary semaphore; it exists as long as the image runs
 * It is created empty. A give fills it, or wakes one task that waits. A give to a full one has no effect, and may return false
 * or true, as the kernel says. Some kernels have calls of their own for it, others those of the service `semaphore`. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_BINARY_SEMAPHORE
#error "This kernel lacks the service binary_semaphore; see kernel.toml."
#elif !__has_include(<port_binary_semaphore.h>)
#error "The service binary_semaphore is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=binary_semaphore."
#else
#include <port_binary_semaphore.h>
#endif

PORT_IS(port_binary_semaphore_create, bool(port_binary_semaphore_t *));
PORT_IS(port_binary_semaphore_take, bool(port_binary_semaphore_t *));
PORT_IS(port_binary_semaphore_give, bool(port_binary_semaphore_t *));
