/* The service `signal` of the port contract: a task signals another one, which waits for the signal.
 *
 * A task prepares itself before it is signalled. port_signal_send makes a signal pending for the task, and port_signal_wait
 * waits for it and takes it. A send before the wait is not lost, and two sends before the wait may count as one. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_SIGNAL
#error "This kernel lacks the service signal; see kernel.toml."
#elif !__has_include(<port_signal.h>)
#error "The service signal is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=signal."
#else
#include <port_signal.h>
#endif

PORT_IS(port_signal_prepare, bool(void));
PORT_IS(port_signal_send, bool(port_task_t));
PORT_IS(port_signal_wait, bool(void));
