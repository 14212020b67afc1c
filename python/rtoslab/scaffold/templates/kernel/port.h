/* The port of @TITLE@: types and measured calls. spec/port.md has the rules, and firmware/include/bench/port.h has the
 * form of every function. A measured call is `static inline` and calls one function of the kernel once. */
#pragma once

#include "@SYMBOL@_config.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ @MACRO@_TICK_RATE_HZ
#define PORT_PRIORITY_MAX 1
#define PORT_TIME_SLICE_TICKS 0
#define PORT_ISR_URGENCY 0

/* A placeholder for the kernel. Replace these declarations by the kernel's headers. */
struct @SYMBOL@_semaphore {
    volatile uint32_t count;
    uint32_t maximum;
};

extern volatile uint32_t @SYMBOL@_ticks;

bool @SYMBOL@_semaphore_take(struct @SYMBOL@_semaphore *semaphore);
bool @SYMBOL@_semaphore_take_for(struct @SYMBOL@_semaphore *semaphore, uint32_t ticks);
bool @SYMBOL@_semaphore_give(struct @SYMBOL@_semaphore *semaphore);
void @SYMBOL@_semaphore_give_from_isr(struct @SYMBOL@_semaphore *semaphore);

/* The types and functions that the port contract requires. */
typedef uint32_t port_critical_t;
typedef struct @SYMBOL@_semaphore port_semaphore_t;

void port_start(void);
void port_alarm(uint32_t ticks, void (*function)(void));
port_critical_t port_critical_enter(void);
void port_critical_exit(port_critical_t entered);

static inline void port_prepare(void)
{
}

static inline void port_isr_enter(void)
{
}

static inline void port_isr_exit(void)
{
}

static inline unsigned port_core(void)
{
    return 0;
}

static inline uint32_t port_tick_now(void)
{
    return @SYMBOL@_ticks;
}

static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    semaphore->count = initial;
    semaphore->maximum = maximum;
    return initial <= maximum;
}

static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return @SYMBOL@_semaphore_take(semaphore);
}

static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return @SYMBOL@_semaphore_take_for(semaphore, ticks);
}

static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return @SYMBOL@_semaphore_give(semaphore);
}

static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    @SYMBOL@_semaphore_give_from_isr(semaphore);
}
