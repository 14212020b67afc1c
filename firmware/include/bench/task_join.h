/* The service `task_join` of the port contract: a task waits for the end of a task that it has started.
 *
 * The port's services/task_join/port_task_join.h gives:
 *     port_task_join_t                    a task that is started and waited for, with its memory
 * port_task_join_prepare says what the task does and how urgent it is. port_task_join_start makes the task, which calls the
 * function and ends. port_task_join_wait returns after its end, at once if it has ended already. Each start is followed by
 * one wait, after which the task can be started again. */
#pragma once

#include "bench/port.h"

#if !KERNEL_SERVICES_TASK_JOIN
#error "This kernel lacks the service task_join; see kernel.toml."
#elif !__has_include(<port_task_join.h>)
#error "The service task_join is optional: configure with -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=services/services.cmake and -DOPTIONAL_SERVICES:STRING=task_join."
#else
#include <port_task_join.h>
#endif

PORT_IS(port_task_join_prepare, bool(port_task_join_t *, void (*)(void), unsigned)); /* task, function, priority */
PORT_IS(port_task_join_start, bool(port_task_join_t *));
PORT_IS(port_task_join_wait, bool(port_task_join_t *));
