/* Scenes for one flow of control. They run in a task of each core, and in main where there are no tasks. */
#include "bench_conformance.h"

#define STAMPS 8u
#define TICKS_A_STAMP 10u

#if KERNEL_SERVICES_SLEEP
/* Sleeps for so many ticks. */
void pass_ticks(uint32_t ticks)
{
    port_sleep_ticks(ticks);
}
#else
/* Spins until so many ticks have passed, because the kernel has no sleep. */
void pass_ticks(uint32_t ticks)
{
    uint32_t start = port_tick_now();

    while (port_tick_now() - start < ticks) {
    }
}
#endif

/* Plays a scene: notes the board's timer units in ten ticks, several times. The virtual board counts cycles and ticks
 * between the two states of the window word. */
static void tick_rate(void)
{
    uint64_t before, now;

    pass_ticks(1);
    bench_window_state = 1;
    before = board_timer_ticks();
    for (unsigned stamp = 0; stamp < STAMPS; stamp++) {
        pass_ticks(TICKS_A_STAMP);
        now = board_timer_ticks();
        note((uint32_t)(now - before));
        before = now;
    }
    bench_window_state = 2;
}

#if KERNEL_SERVICES_SLEEP
/* Plays a scene: notes how many ticks each sleep lasts, by the kernel's own counter. */
static void sleep_ticks(void)
{
    static const uint8_t lengths[] = {1, 2, 5, 10};

    port_sleep_ticks(1);
    for (size_t i = 0; i < sizeof lengths; i++) {
        uint32_t start = port_tick_now();

        port_sleep_ticks(lengths[i]);
        note(port_tick_now() - start);
    }
}
#endif

#if KERNEL_SERVICES_SLEEP_UNTIL
/* Plays a scene: sleeps until every third tick, with nothing in between, with two ticks of work, and with five, after
 * which one tick has passed already. Notes when each sleep ends. */
static void sleep_until(void)
{
    static const uint8_t between[] = {0, 2, 5, 0};
    uint32_t start, tick;

    port_sleep_ticks(1);
    start = tick = port_tick_now();
    for (size_t i = 0; i < sizeof between; i++) {
        uint32_t now = port_tick_now();

        while (port_tick_now() - now < between[i]) {
        }
        port_sleep_until(&tick, 3);
        note(port_tick_now() - start);
    }
}

/* sleep_until_any_phase: the next tick comes before, in and behind each instruction of a sleep until it. Looks at the clock
 * are its coarse steps. Every other tick the other tasks look whether their scene runs, so both kinds are tried. */
#define COARSE_PHASES 24u
#define FINE_PHASES 6u
#define KINDS_OF_TICKS 2u

/* Reads the clock up to `most` times, until the tick is no longer `tick`. Returns how often. */
static uint32_t count_reads_in_tick(uint32_t tick, uint32_t most)
{
    uint32_t looks = 0;

    while (looks < most && port_tick_now() == tick) {
        looks++;
    }
    return looks;
}

/* Returns how often the clock can be read in one tick, at most. */
static uint32_t reads_per_tick(void)
{
    uint32_t most = 0;

    for (unsigned i = 0; i < 2u * KINDS_OF_TICKS; i++) {
        uint32_t looks;

        port_sleep_ticks(1u + i % 2u); /* of both kinds, whether or not a sleep lasts a tick longer */
        looks = count_reads_in_tick(port_tick_now(), UINT32_MAX);
        most = looks > most ? looks : most;
    }
    return most;
}

/* Plays a scene: notes how many sleeps end late when the next tick comes at any point of the call. */
static void sleep_until_any_phase(void)
{
    uint32_t looks = reads_per_tick(), late = 0;

    for (unsigned kind = 0; kind < KINDS_OF_TICKS; kind++) {
        port_sleep_ticks(1);
        for (uint32_t phase = 0; phase < COARSE_PHASES * FINE_PHASES; phase++) {
            uint32_t start, tick;

            port_sleep_ticks(1);
            start = tick = port_tick_now();
            (void)count_reads_in_tick(start, looks - phase / FINE_PHASES);
            for (volatile uint32_t fine = phase % FINE_PHASES; fine > 0; fine--) {
            }
            port_sleep_until(&tick, 1);
            late += port_tick_now() - start > 1 ? 1 : 0;
        }
    }
    note(late);
}
#endif

#if KERNEL_SERVICES_SEMAPHORE
/* Notes 2 and gives the semaphore, in the handler. */
static void count_from_handler(void)
{
    note(2);
    port_semaphore_give_from_isr(&semaphores[0]);
}

/* Plays a scene: a handler gives a semaphore, which is then taken. Notes 1 before, 2 in the handler, 3 after. */
static void isr_gives(void)
{
    on_interrupt = count_from_handler;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    note(1);
    board_soft_irq_pend();
#if KERNEL_SERVICES_TIMEOUT
    note(port_semaphore_take_for(&semaphores[0], 1) ? 3 : 4); /* without a give the suite goes on all the same */
#else
    note(port_semaphore_take(&semaphores[0]) ? 3 : 4);
#endif
}
#endif

/* Notes 3, in the handler. */
static void note_in_handler(void)
{
    note(3);
}

/* Plays a scene: a critical section delays an interrupt. Notes 1, then 2 inside the section with the interrupt pending,
 * after it 3 by the handler, and 4. */
static void critical_masks(void)
{
    port_critical_t entered;

    on_interrupt = note_in_handler;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    note(1);
    entered = port_critical_enter();
    board_soft_irq_pend();
    note(2);
    port_critical_exit(entered);
    __asm volatile("isb" ::: "memory");
    note(4);
}

#if KERNEL_SERVICES_TIMEOUT
/* Takes a semaphore without waiting, `times` times, and notes whether it was there. */
static void check_takes(port_semaphore_t *semaphore, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        note(port_semaphore_take_for(semaphore, 0));
    }
}

/* Gives a semaphore `times` times. */
static void check_gives(port_semaphore_t *semaphore, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        (void)port_semaphore_give(semaphore); /* some kernels say when it is full, some do not */
    }
}

/* Plays a scene: a counting semaphore counts up to its limit. It is made with a count of one and a limit of three.
 * Notes whether each take found one. The semaphore is left as it was found, whatever its limit is. */
static void semaphore_counts(void)
{
    check_takes(&counting, 2);
    check_gives(&counting, 5);
    check_takes(&counting, 4);
    while (port_semaphore_take_for(&counting, 0)) {
    }
    check_gives(&counting, 1);
}

/* Plays a scene: a binary semaphore that is given twice can be taken once. Notes whether each take found it. */
static void semaphore_binary(void)
{
    check_takes(&semaphores[0], 1);
    check_gives(&semaphores[0], 2);
    check_takes(&semaphores[0], 2);
}

/* Plays a scene: nobody gives a semaphore. Notes, for several time-outs, whether it was taken, and the
 * ticks until the call gave up. */
static void timeout_expires(void)
{
    static const uint8_t lengths[] = {1, 2, 5, 10};

    for (size_t i = 0; i < sizeof lengths; i++) {
        uint32_t start;

        pass_ticks(1);
        start = port_tick_now();
        note(port_semaphore_take_for(&semaphores[0], lengths[i]));
        note(port_tick_now() - start);
    }
}
#endif

#if KERNEL_SERVICES_QUEUE
/* Sends a number and its complement to the queue. */
static void send(uint32_t number)
{
    uint32_t item[2] = {number, ~number};

    (void)port_queue_send(&queue, item);
    item[0] = item[1] = 0; /* the queue has a copy */
}

/* Receives an item from the queue, and notes its number, or 0 if it is damaged or missing. */
static void receive(void)
{
    uint32_t item[2] = {0, 0};

    note(port_queue_receive(&queue, item) && item[1] == ~item[0] ? item[0] : 0);
}

/* Plays a scene: a queue keeps the order of its items. It is filled, emptied, and used beyond the end of its memory. */
static void queue_order(void)
{
    for (uint32_t number = 1; number <= QUEUE_LENGTH; number++) {
        send(number);
    }
    for (uint32_t number = 1; number <= QUEUE_LENGTH; number++) {
        receive();
    }
    for (uint32_t number = 5; number <= 7; number++) {
        send(number);
        send(number + 10u);
        receive();
        receive();
    }
}
#endif

/* `tick_rate` first: the virtual board waits for its window. */
const struct solo solos[] = {
    {"tick_rate", tick_rate, true},
    {"critical_masks", critical_masks, false},
#if KERNEL_SERVICES_SLEEP
    {"sleep_ticks", sleep_ticks, false},
#endif
#if KERNEL_SERVICES_SLEEP_UNTIL
    {"sleep_until", sleep_until, false},
    {"sleep_until_any_phase", sleep_until_any_phase, false},
#endif
#if KERNEL_SERVICES_SEMAPHORE
    {"isr_gives", isr_gives, false},
#endif
#if KERNEL_SERVICES_TIMEOUT
    {"semaphore_counts", semaphore_counts, false},
    {"semaphore_binary", semaphore_binary, false},
    {"timeout_expires", timeout_expires, false},
#endif
#if KERNEL_SERVICES_QUEUE
    {"queue_order", queue_order, false},
#endif
};
const size_t solo_count = sizeof solos / sizeof solos[0];
