/* Zephyr 1.14 by the names that later versions have. Its time-outs are milliseconds, which ticks are here; some of its calls
 * give nothing back. */
#pragma once

#include <irq.h>
#include <kernel.h>
#include <linker/sections.h>
#include <misc/stack.h>
#include <sw_isr_table.h>

_Static_assert(CONFIG_SYS_CLOCK_TICKS_PER_SEC == MSEC_PER_SEC, "a tick is a millisecond");

#define K_TICKS(ticks) ((s32_t)(ticks))
#define K_SEM_MAX_LIMIT UINT32_MAX
#define PORT_HEAP_ALIGN_BYTES 4u
#define PORT_DONE(call) ((call), true)
#define STACKED(frame) (*(frame))
#define k_uptime_ticks k_uptime_get
#define k_sys_fatal_error_handler z_SysFatalErrorHandler

typedef NANO_ESF port_frame_t;

void z_SysFatalErrorHandler(unsigned int reason, const NANO_ESF *frame);

/* Stores how many bytes of a thread's stack were never used. Returns 0, as the function of later
 * versions does if it succeeds. */
static inline int k_thread_stack_space_get(const struct k_thread *thread, size_t *unused)
{
    *unused = stack_unused_space_get((const char *)thread->stack_info.start, thread->stack_info.size);
    return 0;
}
