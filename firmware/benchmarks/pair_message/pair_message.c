/* Messages between two kernels, each in an image of its own on its own core: from a task on one core to a task on the other.
 *
 * Starts the clock   the sender reads the cycle counter, which both cores share; the reading is the message.
 * Ends the clock     the receiver, back from its wait, reads the counter.
 * Inside by design   by FIFO: the store into it, the interrupt on the other core, its handler with a give, the switch to the
 *                    task, its way out of the take. By memory: the spinlock, two stores, the receiver's polling, its lock.
 * Excluded           what the receiver does after it has read the counter.
 *
 * Core 0 sends at instants that are PERIOD_CYCLES apart, which shares no large factor with a tick, so the messages meet
 * every phase of the receiver's tick; core 1 answers ANSWER_CYCLES after it has received, when core 0 waits. Each image
 * keeps what it receives.
 *
 * Steps: 1 core 0 waits for the next instant, 2 it sends by one way, 3 core 1 receives it, 4 core 1 sends by the same way,
 * 5 core 0 receives it; then by the other way. The first word of a phase only says that the other core is there, the last
 * one that core 1 may leave: neither is a sample. */
#if !__has_include("bench/pair.h")
#error "pair_message is for two kernels: build it with firmware/amp/amp.cmake."
#endif
#include "bench/latency.h"
#include "bench/pair.h"

/* Over the 125,000 cycles of a tick of 1 ms: of 2000 messages by one way, two neighbours are 72 cycles apart or less. */
#define PERIOD_CYCLES 15686u
#define ANSWER_CYCLES (PERIOD_CYCLES / 2u)
#define STAMP_MASK 0xFFFFu

_Static_assert(CYCLE_COUNTER_BITS >= 16 && PERIOD_CYCLES < 0x8000u, "a stamp has 16 bits");

enum word { WORD_HELLO = 1, WORD_PING, WORD_STOP };

static port_semaphore_t arrived;
static volatile uint32_t inbox;

void PAIR_FIFO_HANDLER(void);

/* Handles the interrupt of the FIFO between the cores: reads the word and wakes the receiver. */
void PAIR_FIFO_HANDLER(void)
{
    port_isr_enter();
    inbox = pair_fifo_read();
    port_semaphore_give_from_isr(&arrived);
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    if (!port_semaphore_create(&arrived, 1, 0)) {
        return false;
    }
    cycle_counter_start();
    pair_fifo_enable(PORT_ISR_URGENCY);
    return true;
}

/* Returns a message: its kind and the present reading of the cycle counter. */
static inline uint32_t stamped(enum word word)
{
    return (uint32_t)word << 16 | (cycle_counter_read() & STAMP_MASK);
}

/* Returns the cycles from a message's stamp to `now`. */
static inline uint32_t age(uint32_t now, uint32_t word)
{
    return (now - word) & STAMP_MASK;
}

/* Sends a message to the other core through the FIFO. */
static inline void fifo_send(enum word word)
{
    if (word == WORD_PING) {
        BENCH_MARK_(2 * SERIES_PAIR_MESSAGE_FIFO);
    }
    pair_fifo_send(stamped(word)); /* 2, 4 */
}

/* Waits for a message from the FIFO, and returns its kind. Stores the age of a ping as a sample. */
static enum word fifo_receive(struct bench_task *self)
{
    uint32_t now, word;

    self->failures += port_semaphore_take(&arrived) ? 0 : 1;
    now = cycle_counter_read(); /* 3, 5 */
    word = inbox;
    if (word >> 16 == WORD_PING) {
        bench_stamp(SERIES_PAIR_MESSAGE_FIFO, age(now, word));
    }
    return (enum word)(word >> 16);
}

/* Sends a message to the other core through shared memory. */
static void memory_send(void)
{
    BENCH_MARK_(2 * SERIES_PAIR_MESSAGE_MEMORY);
    pair_memory_send(stamped(WORD_PING)); /* 2, 4 */
}

/* Polls shared memory for a message and returns its kind. */
static enum word memory_receive(void)
{
    uint32_t now, word;

    while (!pair_memory_has_word()) {
    }
    word = pair_memory_read();
    now = cycle_counter_read(); /* 3, 5 */
    if (word >> 16 == WORD_PING) {
        bench_stamp(SERIES_PAIR_MESSAGE_MEMORY, age(now, word));
    }
    return (enum word)(word >> 16);
}

/* Waits until the cycle counter has reached `instant`. */
static void wait_until(uint32_t instant)
{
    while (((cycle_counter_read() - instant) & STAMP_MASK) >= 0x8000u) { /* 1 */
    }
}

/* Does the work of core 0's task, which sends first. */
static void ask(struct bench_task *self)
{
    uint32_t instant;

    fifo_send(WORD_HELLO);
    self->failures += fifo_receive(self) == WORD_HELLO ? 0 : 1;
    instant = cycle_counter_read();
    while (bench_running()) {
        instant += PERIOD_CYCLES;
        wait_until(instant);
        fifo_send(WORD_PING);
        self->failures += fifo_receive(self) == WORD_PING ? 0 : 1;
        instant += PERIOD_CYCLES;
        wait_until(instant);
        memory_send();
        self->failures += memory_receive() == WORD_PING ? 0 : 1;
        bench_count(self);
    }
    fifo_send(WORD_STOP);
}

/* Does the work of core 1's task, which answers each message. */
static void answer(struct bench_task *self)
{
    self->failures += fifo_receive(self) == WORD_HELLO ? 0 : 1;
    fifo_send(WORD_HELLO);
    for (;;) {
        enum word word = fifo_receive(self);

        if (word == WORD_STOP) {
            return;
        }
        self->failures += word == WORD_PING ? 0 : 1;
        wait_until(cycle_counter_read() + ANSWER_CYCLES);
        fifo_send(WORD_PING);
        self->failures += memory_receive() == WORD_PING ? 0 : 1;
        wait_until(cycle_counter_read() + ANSWER_CYCLES);
        memory_send();
        bench_count(self);
    }
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (PAIR_CORE == 0) {
        ask(self);
    } else {
        answer(self);
    }
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
