/* No kernel behind the port contract: the least code that keeps what each service promises. See README.md. */
#pragma once

#include "bare_config.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ BARE_TICK_RATE_HZ
#define PORT_PRIORITY_MAX 1
#define PORT_TIME_SLICE_TICKS 0
#define PORT_ISR_URGENCY 0
#define PORT_EVENT_BITS 32

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

/* A place for one pointer, for one writer and one reader. It is empty while the pointer is NULL. */
struct bare_mailbox {
    void *volatile message;
};

/* A ring of pointers, for one writer and one reader. */
struct bare_pointer_queue {
    volatile uint32_t written, read;
    uint32_t length;
    uint32_t write_slot, read_slot;
    void **pointers;
};

/* Blocks of one size. The first word of each free block points to the next free one. */
struct bare_pool {
    void *free;
};

/* Bits that handlers may set. */
struct bare_event {
    volatile uint32_t bits;
};

typedef uint32_t port_critical_t;
typedef struct bare_semaphore port_semaphore_t;
typedef struct bare_queue port_queue_t;
typedef struct bare_mailbox port_mailbox_t;
typedef struct bare_pointer_queue port_pointer_queue_t;
typedef struct bare_pool port_pool_t;
typedef struct bare_event port_event_t;

extern volatile uint32_t bare_ticks;

/* port.c: functions of their own, because a kernel's call is one too. */
bool bare_semaphore_take(struct bare_semaphore *semaphore);
bool bare_semaphore_take_for(struct bare_semaphore *semaphore, uint32_t ticks);
bool bare_semaphore_give(struct bare_semaphore *semaphore);
void bare_semaphore_give_from_isr(struct bare_semaphore *semaphore);
uint32_t bare_semaphore_count(struct bare_semaphore *semaphore);
bool bare_queue_send(struct bare_queue *queue, const void *item);
bool bare_queue_receive(struct bare_queue *queue, void *item);
bool bare_queue_try_send(struct bare_queue *queue, const void *item);
bool bare_queue_try_receive(struct bare_queue *queue, void *item);
void bare_mailbox_send(struct bare_mailbox *mailbox, void *message);
void *bare_mailbox_receive(struct bare_mailbox *mailbox);
bool bare_pointer_queue_send(struct bare_pointer_queue *queue, void *pointer);
void *bare_pointer_queue_receive(struct bare_pointer_queue *queue);
void *bare_pool_take(struct bare_pool *pool);
void bare_pool_give(struct bare_pool *pool, void *block);
void bare_event_set(struct bare_event *event, uint32_t bits);
void bare_event_set_from_isr(struct bare_event *event, uint32_t bits);
void bare_event_clear(struct bare_event *event, uint32_t bits);
uint32_t bare_event_wait_any(struct bare_event *event, uint32_t bits);
uint32_t bare_event_wait_all(struct bare_event *event, uint32_t bits);

void port_start(void);
void port_alarm(uint32_t ticks, void (*function)(void));
port_critical_t port_critical_enter(void);
void port_critical_exit(port_critical_t entered);
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes);
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length);
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes);

/* Does nothing: without a kernel there is nothing to prepare. */
static inline void port_prepare(void)
{
}

/* Does nothing: there is no kernel that must know that a handler begins. */
static inline void port_isr_enter(void)
{
}

/* Does nothing: there is no kernel that must know that a handler ends. */
static inline void port_isr_exit(void)
{
}

/* Returns 0, the number of the only core. */
static inline unsigned port_core(void)
{
    return 0;
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return bare_ticks;
}

/* Creates a semaphore with a maximum and an initial count. Returns false if it fails. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    semaphore->count = initial;
    semaphore->maximum = maximum;
    return initial <= maximum;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return bare_semaphore_take(semaphore);
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return bare_semaphore_take_for(semaphore, ticks);
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return bare_semaphore_give(semaphore);
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    bare_semaphore_give_from_isr(semaphore);
}

/* Returns how many takes of a semaphore would succeed now. */
static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    return bare_semaphore_count(semaphore);
}

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return bare_queue_send(queue, item);
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return bare_queue_receive(queue, item);
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    return bare_queue_try_send(queue, item);
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    return bare_queue_try_receive(queue, item);
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    mailbox->message = NULL;
    return true;
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    bare_mailbox_send(mailbox, message);
    return true;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    *message = bare_mailbox_receive(mailbox);
    return true;
}

/* Sends a pointer through a queue, without waiting. Returns false if the queue is full. */
static inline bool port_pointer_queue_send(port_pointer_queue_t *queue, void *pointer)
{
    return bare_pointer_queue_send(queue, pointer);
}

/* Waits for a pointer from a queue. Returns false if the kernel refuses. */
static inline bool port_pointer_queue_receive(port_pointer_queue_t *queue, void **pointer)
{
    *pointer = bare_pointer_queue_receive(queue);
    return true;
}

/* Takes a block from a pool, without waiting. Returns NULL if none is left. */
static inline void *port_pool_take(port_pool_t *pool)
{
    return bare_pool_take(pool);
}

/* Gives a block back to its pool. */
static inline void port_pool_give(port_pool_t *pool, void *block)
{
    bare_pool_give(pool, block);
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    event->bits = 0;
    return true;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    bare_event_set(event, bits);
}

/* Sets bits of an event group, from a handler. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    bare_event_set_from_isr(event, bits);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    bare_event_clear(event, bits);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    return bare_event_wait_any(event, bits);
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    return bare_event_wait_all(event, bits);
}
