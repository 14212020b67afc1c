/* Contiki-NG behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include <stdint.h>

#include "contiki.h"
#include "lib/heapmem.h"
#include "lib/memb.h"
#include "sys/critical.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ CLOCK_CONF_SECOND
#define PORT_PRIORITY_MAX 0
#define PORT_TIME_SLICE_TICKS 0
/* Handlers only poll processes, which any of them may do. */
#define PORT_ISR_URGENCY 0

typedef uint32_t port_task_t;
typedef struct memb port_pool_t;
typedef int_master_status_t port_critical_t;

void port_prepare(void);
void port_start(void);
void port_alarm(uint32_t ticks, void (*function)(void));
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);
void port_heap_figures(struct port_heap_figures *figures);

/* Returns the number of the calling core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the present tick. */
static inline uint32_t port_tick_now(void)
{
    return clock_time();
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
static inline port_critical_t port_critical_enter(void)
{
    return critical_enter();
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t entered)
{
    critical_exit(entered);
}

/* The kernel needs nothing at the begin of a handler. */
static inline void port_isr_enter(void)
{
}

/* The kernel needs nothing at the end of a handler. */
static inline void port_isr_exit(void)
{
}

/* Takes a block from a pool, without waiting. NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    return memb_alloc(pool);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    (void)memb_free(pool, block);
}

/* Returns a block of memory from the kernel's heap. NULL if there is none. */
static inline void *port_malloc(size_t bytes)
{
    return heapmem_alloc(bytes);
}

/* Returns a block to the kernel's heap. */
static inline void port_free(void *block)
{
    (void)heapmem_free(block);
}
