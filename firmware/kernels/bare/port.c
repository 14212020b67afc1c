/* The services without a kernel, and the tick. */
#include <string.h>

#include "bench/board.h"
#include "bench/port.h"

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / BARE_TICK_RATE_HZ)

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "BARE_TICK_RATE_HZ is out of SysTick's range");

void isr_systick(void);

volatile uint32_t bare_ticks;

static volatile uint32_t alarm_tick;
static void (*volatile alarm_function)(void);

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT);
    cpu_systick_start(TICK_CYCLES);
}

/* Handles the tick: counts it, and calls the alarm's function if it is due. */
void isr_systick(void)
{
    uint32_t now = bare_ticks + 1u;
    void (*function)(void) = alarm_function;

    bare_ticks = now;
    if (function != NULL && now == alarm_tick) {
        alarm_function = NULL;
        function();
    }
}

/* Calls a function from the tick's handler on the n-th tick from now. */
void port_alarm(uint32_t ticks, void (*function)(void))
{
    uint32_t masked = cpu_mask_interrupts();

    alarm_tick = bare_ticks + ticks;
    alarm_function = function;
    cpu_restore_interrupts(masked);
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
port_critical_t port_critical_enter(void)
{
    return cpu_mask_interrupts();
}

/* Leaves a critical section, and restores the state from its begin. */
void port_critical_exit(port_critical_t entered)
{
    cpu_restore_interrupts(entered);
}

/* Waits for an interrupt and lets its handler run. Called with interrupts masked, and returns with them masked. A core
 * that waits with interrupts masked wakes all the same, and the handler runs when they are unmasked. So no interrupt
 * can come unnoticed between the caller's look and its wait. */
static uint32_t wait_masked(uint32_t masked)
{
    cpu_wait_for_interrupt();
    cpu_restore_interrupts(masked);
    return cpu_mask_interrupts();
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns true. */
bool bare_semaphore_take(struct bare_semaphore *semaphore)
{
    uint32_t masked = cpu_mask_interrupts();

    while (semaphore->count == 0) {
        masked = wait_masked(masked);
    }
    semaphore->count = semaphore->count - 1u;
    cpu_restore_interrupts(masked);
    return true;
}

/* Takes a semaphore, and waits for `ticks` ticks at most. Returns false if the time is over. */
bool bare_semaphore_take_for(struct bare_semaphore *semaphore, uint32_t ticks)
{
    uint32_t start = bare_ticks;
    uint32_t masked = cpu_mask_interrupts();
    bool taken;

    while (semaphore->count == 0 && bare_ticks - start < ticks) {
        masked = wait_masked(masked);
    }
    taken = semaphore->count != 0;
    semaphore->count = semaphore->count - (taken ? 1u : 0u);
    cpu_restore_interrupts(masked);
    return taken;
}

/* Gives a semaphore. Returns false if its count is at the maximum. */
bool bare_semaphore_give(struct bare_semaphore *semaphore)
{
    uint32_t masked = cpu_mask_interrupts();
    bool room = semaphore->count < semaphore->maximum;

    if (room) {
        semaphore->count = semaphore->count + 1u;
    }
    cpu_restore_interrupts(masked);
    return room;
}

/* Gives a semaphore, from a handler. It needs to mask nothing: no other handler of this image touches a semaphore, and
 * main does so with interrupts masked. */
void bare_semaphore_give_from_isr(struct bare_semaphore *semaphore)
{
    if (semaphore->count < semaphore->maximum) {
        semaphore->count = semaphore->count + 1u;
    }
}

/* Returns how many takes of a semaphore would succeed now. */
uint32_t bare_semaphore_count(struct bare_semaphore *semaphore)
{
    return semaphore->count;
}

/* The board's allowance for what a kernel takes from its heap: here the items of queues. */
static _Alignas(8) unsigned char memory[BOARD_LIMITS_HEAP_BYTES];
static size_t memory_used;

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. */
bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    size_t bytes = ((size_t)length * item_bytes + 7u) & ~(size_t)7u;

    if (bytes > sizeof memory - memory_used) {
        return false;
    }
    memset(queue, 0, sizeof *queue);
    queue->length = length;
    queue->item_bytes = item_bytes;
    queue->items = memory + memory_used;
    memory_used += bytes;
    return true;
}

/* Returns the slot after this one; after the last slot comes the first. */
static uint32_t next_slot(const struct bare_queue *queue, uint32_t slot)
{
    return slot + 1u == queue->length ? 0u : slot + 1u;
}

/* Copies an item into a queue, and waits for as long as the queue is full. Returns true. */
bool bare_queue_send(struct bare_queue *queue, const void *item)
{
    while (queue->written - queue->read == queue->length) {
    }
    memcpy(queue->items + queue->write_slot * queue->item_bytes, item, queue->item_bytes);
    queue->write_slot = next_slot(queue, queue->write_slot);
    __asm volatile("" ::: "memory"); /* the item is there before the reader is told */
    queue->written = queue->written + 1u;
    return true;
}

/* Waits for an item of a queue, and copies it out. Returns true. */
bool bare_queue_receive(struct bare_queue *queue, void *item)
{
    while (queue->written == queue->read) {
    }
    memcpy(item, queue->items + queue->read_slot * queue->item_bytes, queue->item_bytes);
    queue->read_slot = next_slot(queue, queue->read_slot);
    __asm volatile("" ::: "memory"); /* the item is out before the writer may use its place */
    queue->read = queue->read + 1u;
    return true;
}

/* Copies an item into a queue, without waiting. Returns false if the queue is full. */
bool bare_queue_try_send(struct bare_queue *queue, const void *item)
{
    return queue->written - queue->read != queue->length && bare_queue_send(queue, item);
}

/* Copies an item out of a queue, without waiting. Returns false if the queue is empty. */
bool bare_queue_try_receive(struct bare_queue *queue, void *item)
{
    return queue->written != queue->read && bare_queue_receive(queue, item);
}

/* Puts a pointer into a mailbox, and waits for as long as it is full. The pointer is both the message and the flag that
 * it is there, so one store does both. */
void bare_mailbox_send(struct bare_mailbox *mailbox, void *message)
{
    while (mailbox->message != NULL) {
    }
    mailbox->message = message;
}

/* Waits for a pointer in a mailbox, takes it out, and returns it. */
void *bare_mailbox_receive(struct bare_mailbox *mailbox)
{
    void *message;

    do {
        message = mailbox->message;
    } while (message == NULL);
    mailbox->message = NULL;
    return message;
}

/* Sets bits of an event group. */
void bare_event_set(struct bare_event *event, uint32_t bits)
{
    uint32_t masked = cpu_mask_interrupts();

    event->bits = event->bits | bits;
    cpu_restore_interrupts(masked);
}

/* Sets bits of an event group, from a handler. It needs to mask nothing: no other handler touches the group, and main
 * does so with interrupts masked. */
void bare_event_set_from_isr(struct bare_event *event, uint32_t bits)
{
    event->bits = event->bits | bits;
}

/* Clears bits of an event group. */
void bare_event_clear(struct bare_event *event, uint32_t bits)
{
    uint32_t masked = cpu_mask_interrupts();

    event->bits = event->bits & ~bits;
    cpu_restore_interrupts(masked);
}

/* Waits for one of these bits, clears those that it waited for, and returns all bits from before. */
uint32_t bare_event_wait_any(struct bare_event *event, uint32_t bits)
{
    uint32_t masked = cpu_mask_interrupts();
    uint32_t found;

    while (((found = event->bits) & bits) == 0) {
        masked = wait_masked(masked);
    }
    event->bits = found & ~bits;
    cpu_restore_interrupts(masked);
    return found;
}

/* Waits for all of these bits, clears them, and returns all bits from before. */
uint32_t bare_event_wait_all(struct bare_event *event, uint32_t bits)
{
    uint32_t masked = cpu_mask_interrupts();
    uint32_t found;

    while (((found = event->bits) & bits) != bits) {
        masked = wait_masked(masked);
    }
    event->bits = found & ~bits;
    cpu_restore_interrupts(masked);
    return found;
}
