/* Who is woken by what several tasks tell each other: mailboxes, events, conditions, and queues and events from handlers. */
#include "bench_scene.h"

#if KERNEL_SERVICES_MAILBOX
/* mailbox_blocks: the more urgent task sends four messages to a box of one, the other takes them: 100 and its number when
 * one is sent (200 where there was no room and no waiting), its number when one is received. */
#define MESSAGES_THAT_COME (KERNEL_SERVICES_MAILBOX_SEND_WAITS ? MESSAGES : 1u)

/* Sends all messages to the mailbox, and notes 100 plus the number, or 200 if there was no room. */
static void send_messages(void)
{
    for (uint32_t number = 1; number <= MESSAGES; number++) {
        note((port_mailbox_send(&mailbox, message(number)) ? 100u : 200u) + number);
    }
}

/* Receives the messages from the mailbox, and notes their numbers. */
static void receive_messages(void)
{
    port_sleep_ticks(LATER_TICKS);
    for (uint32_t number = 1; number <= MESSAGES_THAT_COME; number++) {
        void *received = NULL;

        (void)port_mailbox_receive(&mailbox, &received);
        note(message_number(received));
    }
}
#endif

#if KERNEL_SERVICES_QUEUE_POINTER
/* Receives two messages from the queue of pointers, and notes their numbers. In scene pointer_queue_wakes this task is
 * the more urgent one: it receives the messages 2 and 4 as soon as each is sent. */
static void receive_pointers(void)
{
    for (unsigned i = 0; i < 2; i++) {
        void *received = NULL;

        (void)port_pointer_queue_receive(&pointer_queue, &received);
        note(message_number(received));
    }
}

/* Sends two messages to the queue of pointers, with notes in between. */
static void send_pointers_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    for (uint32_t number = 2; number <= 4; number += 2) {
        note(number - 1u);
        (void)port_pointer_queue_send(&pointer_queue, message(number));
    }
    note(5);
}
#endif

#if KERNEL_SERVICES_EVENT
/* Waits for any of two event bits, and notes 2. In scene event_wakes another task waits for both of two other bits (5).
 * The notes 1, 3, 4 and 6 come between the sets. */
static void wait_for_any(void)
{
    (void)port_event_wait_any(&event, 1u | 2u);
    note(2);
}

/* Waits for both of two event bits, and notes 5. */
static void wait_for_both(void)
{
    (void)port_event_wait_all(&event, 4u | 8u);
    note(5);
}

/* Sets three event bits, with notes in between. */
static void set_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    note(1);
    port_event_set(&event, 2u);
    note(3);
    port_event_set(&event, 4u);
    note(4);
    port_event_set(&event, 8u);
    note(6);
}
#endif

#if KERNEL_SERVICES_CONDITION
/* condition_wakes: the more urgent task waits for a condition, which lets the other have the mutex (1); it is signalled,
 * but must wait for the mutex (2) before it goes on (3); 4 behind the unlock. */
static volatile bool condition_met;

/* Waits for the condition, and notes 3. */
static void wait_for_condition(void)
{
    (void)port_mutex_lock(&mutex);
    while (!condition_met) {
        port_condition_wait(&condition, &mutex);
    }
    note(3);
    condition_met = false;
    (void)port_mutex_unlock(&mutex);
}

/* Signals the condition while it has the mutex, with notes before and after. */
static void signal_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    (void)port_mutex_lock(&mutex);
    note(1);
    condition_met = true;
    port_condition_signal(&condition);
    note(2);
    (void)port_mutex_unlock(&mutex);
    note(4);
}
#endif

#if KERNEL_SERVICES_QUEUE_FROM_ISR
/* Notes 2 and sends to the queue, in the handler of scene isr_sends_preempts. */
static void send_in_handler(void)
{
    static const uint32_t item[2] = {7, ~7u};

    note(2);
    (void)port_queue_send_from_isr(&queue, item);
}

/* Waits for an item in the queue, and notes 3. */
static void receive_and_note_3(void)
{
    uint32_t item[2];

    (void)port_queue_receive(&queue, item);
    note(3);
}

/* Pends the interrupt whose handler sends to the queue, with notes before and after. */
static void pend_to_send(void)
{
    pend_and_note(send_in_handler);
}
#endif

#if KERNEL_SERVICES_EVENT_FROM_ISR
/* Notes 2 and sets an event bit, in the handler of scene isr_sets_preempts. */
static void set_in_handler(void)
{
    note(2);
    port_event_set_from_isr(&event, 1u);
}

/* Waits for an event bit, and notes 3. */
static void wait_and_note_3(void)
{
    (void)port_event_wait_any(&event, 1u);
    note(3);
}

/* Pends the interrupt whose handler sets an event bit, with notes before and after. */
static void pend_to_set(void)
{
    pend_and_note(set_in_handler);
}
#endif

#if KERNEL_SERVICES_MAILBOX_TIMEOUT
/* Waits for a message with a time-out, and notes its number and the ticks that it took. In scene mailbox_timeout_given
 * the message is sent in time, so the wait ends then. */
static void receive_in_time(void)
{
    uint32_t start = port_tick_now();
    void *received = NULL;

    note(port_mailbox_receive_for(&mailbox, &received, 10) ? message_number(received) : 0);
    note(port_tick_now() - start);
}

/* Sends a message after three ticks. */
static void send_after_three(void)
{
    port_sleep_ticks(3);
    (void)port_mailbox_send(&mailbox, message(2));
}
#endif

#if KERNEL_SERVICES_EVENT_TIMEOUT
/* Waits for event bits with a time-out, and notes whether one came (1) and the ticks that it took. In scene
 * event_timeout_given one of two bits is set in time, so the wait ends then. The wait clears the bit, so a
 * second one gets none (0). */
static void wait_in_time(void)
{
    uint32_t start = port_tick_now();

    note(port_event_wait_any_for(&event, 1u | 2u, 10));
    note(port_tick_now() - start);
    note(port_event_wait_any_for(&event, 1u | 2u, 1));
}

/* Sets an event bit after three ticks. */
static void set_after_three(void)
{
    port_sleep_ticks(3);
    port_event_set(&event, 2u);
}
#endif

const struct scene message_scenes[] = {
#if KERNEL_SERVICES_MAILBOX
    {"mailbox_blocks", {receive_messages, NULL, send_messages, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_QUEUE_POINTER
    {"pointer_queue_wakes", {send_pointers_between_notes, NULL, receive_pointers, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_EVENT
    {"event_wakes", {set_between_notes, wait_for_both, wait_for_any, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_MAILBOX_TIMEOUT
    {"mailbox_timeout_given", {send_after_three, receive_in_time, NULL, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_EVENT_TIMEOUT
    {"event_timeout_given", {set_after_three, wait_in_time, NULL, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_CONDITION
    {"condition_wakes", {signal_between_notes, NULL, wait_for_condition, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_QUEUE_FROM_ISR
    {"isr_sends_preempts", {pend_to_send, NULL, receive_and_note_3, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_EVENT_FROM_ISR
    {"isr_sets_preempts", {pend_to_set, NULL, wait_and_note_3, NULL, NULL}, NULL},
#endif
    {NULL, {NULL, NULL, NULL, NULL, NULL}, NULL}, /* a kernel may have none of these services */
};
const size_t message_scene_count = sizeof message_scenes / sizeof message_scenes[0] - 1u;
