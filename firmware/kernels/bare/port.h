/* No kernel behind the port contract: the least code that keeps what each service promises. See README.md. */
#pragma once

#include "bare_config.h"

#define PORT_CONTRACT 2
#define PORT_TICK_HZ BARE_TICK_RATE_HZ
#define PORT_PRIORITY_MAX 1
#define PORT_TIME_SLICE_TICKS 0
#define PORT_ISR_URGENCY 0

/* A count that handlers may raise. */
struct bare_semaphore {
    volatile uint32_t count;
    uint32_t maximum;
};

/* A ring for one writer and one reader. The indexes run on for ever; their difference is the number of items. */
struct bare_queue {
    volatile uint32_t written, read;
    uint32_t length, item_bytes;
    uint32_t write_slot, read_slot;
    unsigned char *items;
};

typedef struct bare_semaphore port_semaphore_t;
typedef struct bare_queue port_queue_t;

extern volatile uint32_t bare_ticks;

/* port.c: functions of their own, because a kernel's call is one too. */
bool bare_semaphore_take(struct bare_semaphore *semaphore);
bool bare_semaphore_take_for(struct bare_semaphore *semaphore, uint32_t ticks);
bool bare_semaphore_give(struct bare_semaphore *semaphore);
void bare_semaphore_give_from_isr(struct bare_semaphore *semaphore);
bool bare_queue_send(struct bare_queue *queue, const void *item);
bool bare_queue_receive(struct bare_queue *queue, void *item);

void port_start(void);
void port_alarm(uint32_t ticks, void (*function)(void));
void port_critical_enter(void);
void port_critical_exit(void);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);

static inline unsigned port_core(void)
{
    return 0;
}

static inline uint32_t port_tick_now(void)
{
    return bare_ticks;
}

static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    semaphore->count = initial;
    semaphore->maximum = maximum;
    return initial <= maximum;
}

static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return bare_semaphore_take(semaphore);
}

static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return bare_semaphore_take_for(semaphore, ticks);
}

static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return bare_semaphore_give(semaphore);
}

static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    bare_semaphore_give_from_isr(semaphore);
}

static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return bare_queue_send(queue, item);
}

static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return bare_queue_receive(queue, item);
}
