/* The service `work` of the port contract: a function that a task or a handler submits, and a task of the kernel calls.
 *
 * The port's services/work/port_work.h gives:
 *     PORT_WORK_CALLBACK(name)            declares the function `name` with the parameters that the kernel calls it with
 *     port_work_callback_t                a pointer to such a function
 * The kernel's task is more urgent than every task of a benchmark. The function MUST NOT wait. Each submission calls it once,
 * in the order of submissions. A submission from a handler is the handler's last call but for port_isr_exit. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_WORK
#error "This kernel lacks the service work; see kernel.toml."
#elif !__has_include(<port_work.h>)
#error "The service work is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=work."
#else
#include <port_work.h>
#endif

PORT_IS(port_work_submit, bool(port_work_callback_t));
PORT_IS(port_work_submit_from_isr, bool(port_work_callback_t));
