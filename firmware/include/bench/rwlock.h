/* The service `rwlock` of the port contract: a lock that several readers or one writer hold.
 *
 * The port's services/rwlock/port_rwlock.h gives:
 *     port_rwlock_t                       a read-write lock; it exists as long as the image runs
 * A read lock waits while a writer has the lock, and a write lock waits while anybody has it. Whether a reader must also wait
 * while a writer only waits is the kernel's matter, and so is inheritance of priorities. A task has the lock once, and unlocks
 * it by the call for its kind of lock. Only tasks call these functions. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_RWLOCK
#error "This kernel lacks the service rwlock; see kernel.toml."
#elif !__has_include(<port_rwlock.h>)
#error "The service rwlock is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=rwlock."
#else
#include <port_rwlock.h>
#endif

PORT_IS(port_rwlock_create, bool(port_rwlock_t *));
PORT_IS(port_rwlock_read_lock, bool(port_rwlock_t *));
PORT_IS(port_rwlock_read_unlock, bool(port_rwlock_t *));
PORT_IS(port_rwlock_write_lock, bool(port_rwlock_t *));
PORT_IS(port_rwlock_write_unlock, bool(port_rwlock_t *));
