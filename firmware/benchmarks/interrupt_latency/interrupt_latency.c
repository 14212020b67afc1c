/* Interrupt latency: from a timer's event, at any phase of what the core does, to the handler's first statement.
 *
 * Starts the clock   a hardware timer's event; the timer counts on from it.
 * Ends the clock     the handler's first statement reads the timer.
 * Inside by design   recognition, the instruction or the section with interrupts masked that was under way, stacking and
 *                    vector fetch, the handler's prologue, the way of the reading to the timer.
 * Excluded           everything the handler does after it.
 *
 * The handler reads the timer, and sets it to a new period (a generator with the parameter `seed`), so that it comes at
 * another phase each time. The only task computes, calling nothing, or gives, takes, sends and receives: the handler
 * tells it which by turns, and a period lasts longer than the task needs to notice. */
#include "bench/async.h"
#include "bench/draw.h"
#include "bench/latency.h"

#define PERIOD_MIN_CYCLES 16384u
#define PERIOD_SPAN_CYCLES 32768u

_Static_assert(PERIOD_MIN_CYCLES + PERIOD_SPAN_CYCLES <= ASYNC_CYCLES_MAX, "the timer cannot count so far");
_Static_assert(BENCH_PARAM_SEED != 0, "parameter seed: not 0, from which the generator does not get away");

static port_semaphore_t semaphore;
static port_queue_t queue;
static volatile bool calling;
static uint32_t state = BENCH_PARAM_SEED;

/* The computing's result; nobody needs it, but the compiler must think so. */
static volatile uint32_t computed;

/* Draws the number of cycles until the timer's next event. */
static uint32_t draw_period(void)
{
    return PERIOD_MIN_CYCLES + bench_draw(&state) % PERIOD_SPAN_CYCLES;
}

void BOARD_ASYNC_IRQ_HANDLER(void);

/* Handles the timer's interrupt: its first statement reads the cycles since the event. */
void BOARD_ASYNC_IRQ_HANDLER(void)
{
    uint32_t elapsed_cycles = async_elapsed_cycles();

    if (calling) {
        bench_stamp(SERIES_INTERRUPT_LATENCY_CALLING, elapsed_cycles);
    } else {
        bench_stamp(SERIES_INTERRUPT_LATENCY_COMPUTING, elapsed_cycles);
    }
    calling = !calling;
    async_again(draw_period());
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    (void)self;
    return port_semaphore_create(&semaphore, 1, 0) && port_queue_create(&queue, 1, 4);
}

/* Calls the kernel's services once: semaphore give and take, queue send and receive. */
static void call(struct bench_task *self)
{
    uint32_t item = self->count;
    bool done = port_semaphore_give(&semaphore) && port_semaphore_take(&semaphore) && port_queue_send(&queue, &item) &&
                port_queue_receive(&queue, &item);

    self->failures += done ? 0 : 1;
}

/* Computes on a number for a while, without any kernel call. */
static void compute(void)
{
    uint32_t value = computed;

    for (unsigned i = 0; i < 16; i++) {
        value = value * 1664525u + 1013904223u;
    }
    computed = value;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    async_start(PORT_ISR_URGENCY, PERIOD_MIN_CYCLES);
    while (bench_running()) {
        if (calling) {
            call(self);
        } else {
            compute();
        }
        bench_count(self);
    }
    async_stop();
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
};
