/* Interrupt activation: from a timer's event, at any phase of what the core does, to the task that waits for it.
 *
 * Starts the clock   a hardware timer's event; the timer counts on from it.
 * Ends the clock     the task, back from its take, reads the timer.
 * Inside by design   the interrupt's latency, the handler, its give, the switch, the task's way out of its take, the way of
 *                    the reading to the timer.
 * Excluded           everything the task does after it.
 *
 * Steps: 1 the timer's handler sets a new period (a generator with the parameter `seed`) and gives; 2 task 0, the more
 * urgent one, is back from its take, reads the timer, and takes again; task 1 computes, calling nothing, or gives, takes,
 * sends and receives on objects of its own: task 0 tells it which by turns, and a period lasts longer than task 1 needs
 * to notice. At the end of a phase task 1 gives once more behind the flag `draining`, and task 0 leaves. */
#include "bench/async.h"
#include "bench/draw.h"
#include "bench/latency.h"

#define PERIOD_MIN_CYCLES 16384u
#define PERIOD_SPAN_CYCLES 32768u

_Static_assert(PERIOD_MIN_CYCLES + PERIOD_SPAN_CYCLES <= ASYNC_CYCLES_MAX, "the timer cannot count so far");
_Static_assert(BENCH_PARAM_SEED != 0, "parameter seed: not 0, from which the generator does not get away");

static port_semaphore_t raised, semaphore;
static port_queue_t queue;
static volatile bool calling, draining;
static uint32_t state = BENCH_PARAM_SEED;

/* The computing's result; nobody needs it, but the compiler must think so. */
static volatile uint32_t computed;

/* Draws the number of cycles until the timer's next event. */
static uint32_t draw_period(void)
{
    return PERIOD_MIN_CYCLES + bench_draw(&state) % PERIOD_SPAN_CYCLES;
}

void BOARD_ASYNC_IRQ_HANDLER(void);

/* Handles the timer's interrupt: sets its next period and wakes task 0. */
void BOARD_ASYNC_IRQ_HANDLER(void)
{
    port_isr_enter();
    async_again(draw_period()); /* 1 */
    port_semaphore_give_from_isr(&raised);
    port_isr_exit();
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != 0 || (port_semaphore_create(&raised, 1, 0) && port_semaphore_create(&semaphore, 1, 0) &&
                                port_queue_create(&queue, 1, 4));
}

/* Does the work of task 0, which the handler wakes. */
static void activated(struct bench_task *self)
{
    for (;;) {
        uint32_t elapsed_cycles;

        self->failures += port_semaphore_take(&raised) ? 0 : 1;
        elapsed_cycles = async_elapsed_cycles(); /* 2 */
        if (draining) {
            return;
        }
        if (calling) {
            bench_stamp(SERIES_INTERRUPT_ACTIVATION_CALLING, elapsed_cycles);
        } else {
            bench_stamp(SERIES_INTERRUPT_ACTIVATION_COMPUTING, elapsed_cycles);
        }
        calling = !calling;
    }
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

/* Does the work of task 1, which the timer interrupts. */
static void interrupted(struct bench_task *self)
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
    draining = true;
    (void)port_semaphore_give(&raised);
    draining = false;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == 0) {
        activated(self);
    } else {
        interrupted(self);
    }
}

const struct bench_program bench_program = {
    .priority = {2, 1},
    .prepare = prepare,
    .body = body,
};
