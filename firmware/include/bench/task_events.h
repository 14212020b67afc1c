/* The service `task_events` of the port contract: flags that belong to one task, without an object.
 *
 * Any task of the same core, or a handler, sets flags of a task. Only this task waits: until at least one of its flags is set.
 * The wait returns all flags that are set, and clears them. A set before the wait is not lost. There are 16 flags (1 << 0 to
 * 1 << 15). A kernel may use the same memory for the service `notify`, so a task uses only one of the two services.
 * A set from a handler is the handler's last call but for port_isr_exit. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_TASK_EVENTS
#error "This kernel lacks the service task_events; see kernel.toml."
#elif !__has_include(<port_task_events.h>)
#error "The service task_events is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=task_events."
#else
#include <port_task_events.h>
#endif

PORT_IS(port_task_events_set, void(port_task_t, uint32_t));          /* task, bits */
PORT_IS(port_task_events_set_from_isr, void(port_task_t, uint32_t)); /* task, bits */
PORT_IS(port_task_events_wait, uint32_t(port_task_t));               /* the caller's own handle; returns bits */
