/* What a kernel gives: contract version 3. The rules in prose, with their reasons, are in spec/port.md.
 *
 * kernels/<name>/port.h, included below, defines these names as macros, types and `static inline` functions, so that
 * the disassembly of a benchmark shows the kernel's own symbol called directly. The assertions after it hold every port
 * to the same types. A kernel that lacks a service says `service = false` in kernel.toml, defines nothing for it, and
 * benchmarks that need it are refused at configure time.
 *
 * Always:
 *     PORT_CONTRACT              3
 *     PORT_TICK_HZ               the kernel's tick
 *     PORT_PRIORITY_MAX          most urgent abstract priority; 0 is the least urgent above idle
 *     PORT_TIME_SLICE_TICKS      ticks after which a task goes behind its equals; 0: never
 *     PORT_ISR_URGENCY           most urgent NVIC level from which the _from_isr functions may be called (0 = any)
 *     port_task_t                copyable handle
 *     port_critical_t            what leaving a critical section needs to know of entering it
 * With priority_get or priority_set:
 *     PORT_PRIORITY(abstract)    the number by which the kernel itself knows a priority
 * With heap, where its blocks are not aligned to 8:
 *     PORT_HEAP_ALIGN_BYTES      4u
 * With event:
 *     PORT_EVENT_BITS            how many bits an event has, at least 24
 *
 * A service that costs the kernel something even where it is not used (a task of the kernel's own) may be left out of an
 * image whose benchmark does not list it: BENCH_NEEDS_<SERVICE> is 0 there. The conformance suite lists them all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_config.h"
#include "bench_board_facts.h"
#include "bench_kernel_facts.h"

/* How a task is asked for. `name` and `argument` must outlive the task. */
struct port_task_request {
    const char *name;
    void (*entry)(void *argument); /* never returns */
    void *argument;
    uint32_t stack_bytes;
    uint8_t priority;
    uint8_t core; /* pinned: it MUST never run on another one; or PORT_ANY_CORE, where BENCH_ANY_CORE is 1 */
};

/* With the service any_core: a task that the kernel runs on whichever core is free for it. */
#define PORT_ANY_CORE UINT8_MAX

struct port_heap_figures {
    uint32_t size_bytes;
    uint32_t peak_bytes; /* the most ever in use, the heap's own overhead included */
    uint32_t allocations;
};

/* What could still be had, now: in all, at once, and in how many pieces. */
struct port_heap_free {
    uint32_t bytes, largest_bytes, pieces;
};

#include <port.h>

#if PORT_CONTRACT != 3
#error "This kernel's port.h was written for another version of the port contract; see spec/port.md."
#endif

#ifndef PORT_HEAP_ALIGN_BYTES
#define PORT_HEAP_ALIGN_BYTES 8u
#endif

/* Checks at compile time that a port's function has this type. */
#define PORT_IS(function, type) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(function), type), #function " must have the type " #type)

/* Called first in every image, before any object or task is made: what some kernels must do before they can make one. */
PORT_IS(port_prepare, void(void));
/* Starts the kernel on all configured cores; with tasks it does not return, without it returns with the tick running. */
PORT_IS(port_start, void(void));
PORT_IS(port_core, unsigned(void));
PORT_IS(port_tick_now, uint32_t(void));
/* Nothing else runs on this core, and no other core is inside enter/exit. Exit is told what enter returned. */
PORT_IS(port_critical_enter, port_critical_t(void));
PORT_IS(port_critical_exit, void(port_critical_t));
/* The first and the last act of each handler that calls a _from_isr function. */
PORT_IS(port_isr_enter, void(void));
PORT_IS(port_isr_exit, void(void));

#if KERNEL_SERVICES_TASKS
/* Before port_start(), from one core. */
PORT_IS(port_task_create, bool(port_task_t *, const struct port_task_request *));
/* The address a debugger would know the task by: the kernel's control block. */
PORT_IS(port_task_address, uintptr_t(port_task_t));
/* Highest use of the stack so far; stack_bytes is what was asked for. */
PORT_IS(port_stack_used_bytes, uint32_t(port_task_t, uint32_t));
#if !KERNEL_SERVICES_SLEEP
#error "A kernel with tasks must offer sleep: the runner agrees gate and window by tick; see spec/port.md."
#endif
#else
/* Calls the function once, from the tick's handler, on the n-th tick from now; then nothing until it is set again. */
PORT_IS(port_alarm, void(uint32_t, void (*)(void)));
#endif
#if KERNEL_SERVICES_SLEEP
PORT_IS(port_sleep_ticks, void(uint32_t));
#endif
#if KERNEL_SERVICES_SLEEP_UNTIL
PORT_IS(port_sleep_until, void(uint32_t *, uint32_t)); /* ticks behind the tick given, which becomes that one */
#endif
#if BENCH_ANY_CORE && !(KERNEL_SERVICES_ANY_CORE && BENCH_CORES > 1)
#error "Tasks that run on any core need the service any_core and two cores; see spec/port.md."
#endif
#if KERNEL_SERVICES_YIELD
PORT_IS(port_yield, void(void));
#endif
#if KERNEL_SERVICES_NOTIFY
PORT_IS(port_notify_give, void(port_task_t));
PORT_IS(port_notify_take, void(port_task_t)); /* the caller's own handle; waits for ever; takes all that was given */
#endif
#if KERNEL_SERVICES_NOTIFY_FROM_ISR
PORT_IS(port_notify_give_from_isr, void(port_task_t)); /* the handler's last call but for port_isr_exit */
#if !KERNEL_SERVICES_NOTIFY
#error "The service notify_from_isr needs notify; see spec/port.md."
#endif
#endif
#if KERNEL_SERVICES_SUSPEND
PORT_IS(port_suspend_self, void(port_task_t)); /* the caller's own handle */
PORT_IS(port_resume, void(port_task_t));
#endif
#if KERNEL_SERVICES_RESUME_FROM_ISR
PORT_IS(port_resume_from_isr, void(port_task_t)); /* the handler's last call but for port_isr_exit */
#if !KERNEL_SERVICES_SUSPEND
#error "The service resume_from_isr needs suspend; see spec/port.md."
#endif
#endif
#if KERNEL_SERVICES_SEMAPHORE
PORT_IS(port_semaphore_create, bool(port_semaphore_t *, uint32_t, uint32_t)); /* maximum (see semaphore_limit), initial */
PORT_IS(port_semaphore_take, bool(port_semaphore_t *));                       /* waits for ever */
PORT_IS(port_semaphore_give, bool(port_semaphore_t *));
PORT_IS(port_semaphore_give_from_isr, void(port_semaphore_t *)); /* the handler's last call but for port_isr_exit */
#endif
#if KERNEL_SERVICES_TIMEOUT
PORT_IS(port_semaphore_take_for, bool(port_semaphore_t *, uint32_t)); /* ticks; false: not given in time */
#if !KERNEL_SERVICES_SEMAPHORE
#error "The service timeout is a semaphore's; see spec/port.md."
#endif
#endif
#if KERNEL_SERVICES_MUTEX
PORT_IS(port_mutex_create, bool(port_mutex_t *));
PORT_IS(port_mutex_lock, bool(port_mutex_t *)); /* waits for ever; the holder inherits the waiter's priority */
PORT_IS(port_mutex_unlock, bool(port_mutex_t *));
#endif
#if KERNEL_SERVICES_QUEUE
PORT_IS(port_queue_create, bool(port_queue_t *, uint32_t, uint32_t)); /* length, item_bytes */
PORT_IS(port_queue_send, bool(port_queue_t *, const void *));         /* with queue_send_waits: for ever; else false */
PORT_IS(port_queue_receive, bool(port_queue_t *, void *));            /* waits for ever */
#endif
#if KERNEL_SERVICES_QUEUE_POINTER
PORT_IS(port_pointer_queue_create, bool(port_pointer_queue_t *, uint32_t)); /* length */
PORT_IS(port_pointer_queue_send, bool(port_pointer_queue_t *, void *));     /* not NULL; waits never */
PORT_IS(port_pointer_queue_receive, bool(port_pointer_queue_t *, void **)); /* waits for ever */
#endif
#if KERNEL_SERVICES_POOL
PORT_IS(port_pool_create, bool(port_pool_t *, uint32_t, uint32_t)); /* blocks, block_bytes */
PORT_IS(port_pool_take, void *(port_pool_t *));                     /* NULL: none is left; waits never */
PORT_IS(port_pool_give, void(port_pool_t *, void *));
#endif
#if KERNEL_SERVICES_DYNAMIC_TASKS
/* While the kernel runs, by a task of the core asked for. */
PORT_IS(port_task_spawn, bool(port_task_t *, const struct port_task_request *));
PORT_IS(port_task_delete, void(port_task_t)); /* another task of the caller's core, whatever it waits for */
#endif
#if KERNEL_SERVICES_SUSPEND_OTHER
PORT_IS(port_suspend, void(port_task_t)); /* another task of the caller's core */
#if !KERNEL_SERVICES_SUSPEND
#error "The service suspend_other needs suspend, which resumes; see spec/port.md."
#endif
#endif
#if KERNEL_SERVICES_PRIORITY_GET
PORT_IS(port_priority_get, uint32_t(port_task_t)); /* the kernel's own number */
#endif
#if KERNEL_SERVICES_PRIORITY_SET
PORT_IS(port_priority_set, void(port_task_t, uint32_t)); /* likewise */
#endif
#if KERNEL_SERVICES_SEMAPHORE_COUNT
PORT_IS(port_semaphore_count, uint32_t(port_semaphore_t *));
#endif
#if KERNEL_SERVICES_MUTEX_TIMEOUT
PORT_IS(port_mutex_lock_for, bool(port_mutex_t *, uint32_t)); /* ticks; 0: only a try; false: not got in time */
#if !KERNEL_SERVICES_MUTEX
#error "The service mutex_timeout is a mutex's; see spec/port.md."
#endif
#endif
#if KERNEL_SERVICES_CONDITION
PORT_IS(port_condition_create, bool(port_condition_t *));
PORT_IS(port_condition_wait, void(port_condition_t *, port_mutex_t *)); /* with the mutex held, before and after */
PORT_IS(port_condition_signal, void(port_condition_t *));
#if !KERNEL_SERVICES_MUTEX
#error "A condition is waited for with a mutex held; see spec/port.md."
#endif
#endif
#if KERNEL_SERVICES_QUEUE_FROM_ISR
PORT_IS(port_queue_send_from_isr, bool(port_queue_t *, const void *)); /* likewise; false: it is full */
PORT_IS(port_queue_receive_from_isr, bool(port_queue_t *, void *));    /* likewise; false: it is empty */
#endif
#if KERNEL_SERVICES_MAILBOX
PORT_IS(port_mailbox_create, bool(port_mailbox_t *));
PORT_IS(port_mailbox_send, bool(port_mailbox_t *, void *));     /* one pointer, not NULL; mailbox_send_waits: for ever */
PORT_IS(port_mailbox_receive, bool(port_mailbox_t *, void **)); /* waits for ever */
#if KERNEL_SERVICES_MAILBOX_TIMEOUT
PORT_IS(port_mailbox_receive_for, bool(port_mailbox_t *, void **, uint32_t)); /* ticks > 0; false: none in time */
#endif
#endif
#if KERNEL_SERVICES_EVENT
/* A wait lasts for ever, takes the bits it names, and says what was set before that. */
PORT_IS(port_event_create, bool(port_event_t *)); /* no bit is set */
PORT_IS(port_event_set, void(port_event_t *, uint32_t));
PORT_IS(port_event_clear, void(port_event_t *, uint32_t));
PORT_IS(port_event_wait_any, uint32_t(port_event_t *, uint32_t));
PORT_IS(port_event_wait_all, uint32_t(port_event_t *, uint32_t));
#if KERNEL_SERVICES_EVENT_TIMEOUT
PORT_IS(port_event_wait_any_for, bool(port_event_t *, uint32_t, uint32_t)); /* bits, ticks > 0; false: none in time */
#endif
_Static_assert(PORT_EVENT_BITS >= 24, "an event has at least 24 bits");
#endif
#if (KERNEL_SERVICES_EVENT_TIMEOUT && !KERNEL_SERVICES_EVENT) || (KERNEL_SERVICES_MAILBOX_TIMEOUT && !KERNEL_SERVICES_MAILBOX)
#error "The services event_timeout and mailbox_timeout are an event's and a mailbox's; see spec/port.md."
#endif
#if KERNEL_SERVICES_EVENT_FROM_ISR && BENCH_NEEDS_EVENT_FROM_ISR
PORT_IS(port_event_set_from_isr, void(port_event_t *, uint32_t)); /* the handler's last call but for port_isr_exit */
#endif
#if KERNEL_SERVICES_HOOKS && BENCH_NEEDS_HOOKS
/* Called by the kernel, defined by whoever measures: in the tick's handler, and round the choice of the next task. */
PORT_IS(port_hook_tick_begin, void(void));
PORT_IS(port_hook_tick_end, void(void));
PORT_IS(port_hook_choice_begin, void(void));
PORT_IS(port_hook_choice_end, void(void));
#endif
#if KERNEL_SERVICES_HEAP
PORT_IS(port_malloc, void *(size_t));
PORT_IS(port_free, void(void *));
#endif
#if KERNEL_SERVICES_HEAP_PEAK
PORT_IS(port_heap_figures, void(struct port_heap_figures *));
#endif
#if KERNEL_SERVICES_HEAP_PIECES
PORT_IS(port_heap_free, void(struct port_heap_free *));
#endif
#if KERNEL_SERVICES_HEAP_ALLOCATIONS && !KERNEL_SERVICES_HEAP_PEAK
#error "The service heap_allocations is told beside heap_peak; see spec/port.md."
#endif
#if (KERNEL_SERVICES_HEAP_PEAK || KERNEL_SERVICES_HEAP_PIECES) && !KERNEL_SERVICES_HEAP
#error "The services heap_peak and heap_pieces are a heap's; see spec/port.md."
#endif
