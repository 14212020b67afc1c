/* Scenes for one flow of control: counts, mailboxes, events, and queues used by a handler. */
#include "bench_conformance.h"

static uint32_t words[MESSAGES + 1u];

/* Returns the message with this number. */
void *message(uint32_t number)
{
    return &words[number];
}

/* Returns the number of a received message, or 0 if it is none of ours. */
uint32_t message_number(void *received)
{
    for (uint32_t number = 1; number <= MESSAGES; number++) {
        if (received == &words[number]) {
            return number;
        }
    }
    return 0;
}

#if KERNEL_SERVICES_SEMAPHORE_COUNT
/* Notes the count of a semaphore. */
static void note_count(port_semaphore_t *semaphore)
{
    note(port_semaphore_count(semaphore));
}

/* Plays a scene: semaphores report their counts. Notes the counts of a semaphore with a limit of three: given twice,
 * given once more in vain (where there is a limit), and taken twice. Then it does the same for a binary semaphore. */
static void semaphore_figures(void)
{
    note_count(&counting);
    for (unsigned i = 0; i < 3; i++) {
        (void)port_semaphore_give(&counting);
        note_count(&counting);
    }
    for (unsigned i = 0; i < 2; i++) {
        (void)port_semaphore_take(&counting);
        note_count(&counting);
    }
    while (port_semaphore_count(&counting) > 1) {
        (void)port_semaphore_take(&counting);
    }
    note_count(&semaphores[0]);
    (void)port_semaphore_give(&semaphores[0]);
    note_count(&semaphores[0]);
    (void)port_semaphore_take(&semaphores[0]);
}
#endif

#if KERNEL_SERVICES_MAILBOX
/* Plays a scene: each message is sent into an empty mailbox and received again. Notes the numbers received. */
static void mailbox_keeps(void)
{
    for (uint32_t number = 1; number <= MESSAGES; number++) {
        void *received = NULL;

        (void)port_mailbox_send(&mailbox, message(number));
        note(port_mailbox_receive(&mailbox, &received) ? message_number(received) : 0);
    }
}
#endif

#if KERNEL_SERVICES_QUEUE_POINTER
/* Sends a message to the queue of pointers, and notes whether there was room. */
static void send_pointer(uint32_t number)
{
    note(port_pointer_queue_send(&pointer_queue, message(number)));
}

/* Receives a message from the queue of pointers, and notes its number, or 0. */
static void receive_pointer(void)
{
    void *received = NULL;

    note(port_pointer_queue_receive(&pointer_queue, &received) ? message_number(received) : 0);
}

/* Plays a scene: a queue of pointers keeps the order of its messages. Notes 1 for each message that fills the queue, 0
 * for one more, and the numbers of those received. Two more messages go over the end of its memory. */
static void pointer_queue_order(void)
{
    for (uint32_t number = 1; number <= QUEUE_LENGTH; number++) {
        send_pointer(number);
    }
    send_pointer(1);
    for (uint32_t number = 1; number <= QUEUE_LENGTH; number++) {
        receive_pointer();
    }
    for (unsigned round = 0; round < 3; round++) {
        send_pointer(3);
        send_pointer(4);
        receive_pointer();
        receive_pointer();
    }
}
#endif

#if KERNEL_SERVICES_EVENT
/* Plays a scene: waits for event bits return and clear the right ones. Notes what each wait returns. No wait blocks if
 * bits are set, taken and cleared as they must be. Of 1 and 4 the first wait takes 1, the second 4; 2 and 8 come
 * together; of 16 and 32 the first one is cleared; bit 23 is the last one that every kernel has. */
static void event_bits(void)
{
    port_event_set(&event, 1u | 4u);
    note(port_event_wait_any(&event, 1u));
    note(port_event_wait_any(&event, 4u));
    port_event_set(&event, 2u);
    port_event_set(&event, 8u);
    note(port_event_wait_all(&event, 2u | 8u));
    port_event_set(&event, 16u | 32u);
    port_event_clear(&event, 16u);
    note(port_event_wait_any(&event, 16u | 32u));
    port_event_set(&event, 1u << 23);
    note(port_event_wait_any(&event, 1u << 23));
}
#endif

#if KERNEL_SERVICES_EVENT_FROM_ISR
/* Notes 2 and sets an event bit, in the handler. */
static void set_in_handler(void)
{
    note(2);
    port_event_set_from_isr(&event, 64u);
}

/* Plays a scene: a handler sets an event bit. Notes 1 before, 2 in the handler, then the bits that the wait returns. */
static void isr_sets(void)
{
    arm_interrupt(set_in_handler);
    note(1);
    board_soft_irq_pend();
    note(port_event_wait_any(&event, 64u));
}
#endif

#if KERNEL_SERVICES_QUEUE_FROM_ISR
/* Sends 7 to the queue in the handler, and notes whether there was room. */
static void send_in_handler(void)
{
    static const uint32_t item[2] = {7, ~7u};

    note(port_queue_send_from_isr(&queue, item));
}

/* Receives an item from the queue in the handler, and notes its number, or 0. */
static void receive_in_handler(void)
{
    uint32_t item[2] = {0, 0};

    note(port_queue_receive_from_isr(&queue, item) && item[1] == ~item[0] ? item[0] : 0);
}

/* Makes the software interrupt's handler do `act` now. */
static void pend_interrupt_calling(void (*act)(void))
{
    arm_interrupt(act);
    board_soft_irq_pend();
}

/* Plays a scene: a handler sends to the queue and receives from it. Notes in the handler: 1 when 7 is sent into an
 * empty queue, and the 7 that comes out; 0 when the queue is full; 1 when its first item is received; 0 when the queue
 * is empty. The task receives the other items and notes them in between (2 3 4). */
static void isr_sends(void)
{
    uint32_t item[2] = {0, 0};

    pend_interrupt_calling(send_in_handler);
    note(port_queue_receive(&queue, item) && item[1] == ~item[0] ? item[0] : 0);
    for (uint32_t number = 1; number <= QUEUE_LENGTH; number++) {
        item[0] = number;
        item[1] = ~number;
        (void)port_queue_send(&queue, item);
    }
    pend_interrupt_calling(send_in_handler);
    pend_interrupt_calling(receive_in_handler);
    for (uint32_t number = 2; number <= QUEUE_LENGTH; number++) {
        note(port_queue_receive(&queue, item) && item[1] == ~item[0] ? item[0] : 0);
    }
    pend_interrupt_calling(receive_in_handler);
}
#endif

#if KERNEL_SERVICES_MAILBOX_TIMEOUT || KERNEL_SERVICES_EVENT_TIMEOUT
/* Calls a wait that nobody ends with several time-outs. Notes whether something came, and the ticks until the call gave
 * up. */
static void expect_timeout(bool (*wait)(uint32_t ticks))
{
    static const uint8_t lengths[] = {1, 2, 5, 10};

    for (size_t i = 0; i < sizeof lengths; i++) {
        uint32_t start;

        pass_ticks(1);
        start = port_tick_now();
        note(wait(lengths[i]));
        note(port_tick_now() - start);
    }
}
#endif

#if KERNEL_SERVICES_MAILBOX_TIMEOUT
/* Waits for a message in the mailbox, with a time-out. Returns whether one came. */
static bool receive_for(uint32_t ticks)
{
    void *received = NULL;

    return port_mailbox_receive_for(&mailbox, &received, ticks);
}

/* Plays a scene: waits for a message in an empty mailbox give up after their time-outs. */
static void mailbox_timeout_expires(void)
{
    expect_timeout(receive_for);
}
#endif

#if KERNEL_SERVICES_EVENT_TIMEOUT
/* Waits for event bits 1 or 2, with a time-out. Returns whether one was set. Another bit is set all the time. */
static bool wait_for(uint32_t ticks)
{
    return port_event_wait_any_for(&event, 1u | 2u, ticks);
}

/* Plays a scene: waits for event bits that nobody sets give up after their time-outs. */
static void event_timeout_expires(void)
{
    port_event_set(&event, 4u);
    expect_timeout(wait_for);
    (void)port_event_wait_any(&event, 4u);
}
#endif

const struct solo message_solos[] = {
#if KERNEL_SERVICES_SEMAPHORE_COUNT
    {"semaphore_figures", semaphore_figures, false},
#endif
#if KERNEL_SERVICES_MAILBOX
    {"mailbox_keeps", mailbox_keeps, false},
#if KERNEL_SERVICES_MAILBOX_TIMEOUT
    {"mailbox_timeout_expires", mailbox_timeout_expires, false},
#endif
#endif
#if KERNEL_SERVICES_QUEUE_POINTER
    {"pointer_queue_order", pointer_queue_order, false},
#endif
#if KERNEL_SERVICES_EVENT
    {"event_bits", event_bits, false},
#if KERNEL_SERVICES_EVENT_TIMEOUT
    {"event_timeout_expires", event_timeout_expires, false},
#endif
#endif
#if KERNEL_SERVICES_EVENT_FROM_ISR
    {"isr_sets", isr_sets, false},
#endif
#if KERNEL_SERVICES_QUEUE_FROM_ISR
    {"isr_sends", isr_sends, false},
#endif
    {NULL, NULL, false}, /* a kernel may have none of these services */
};
const size_t message_solo_count = sizeof message_solos / sizeof message_solos[0] - 1u;
