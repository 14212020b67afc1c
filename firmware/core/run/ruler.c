/* Measures the ruler: what an empty measurement costs on this core, with this code placement, in cycles.
 * Done where the core's cycle counter is still free: on core 0 before the kernel starts, on another core in its first
 * task before the gate. A kernel that owns the counter there leaves that core without rulers, never with wrong ones. */
#include "bench_run.h"

#define REPEATS 8u
#define LOOP_ROUNDS 100u

enum ruler { RULER_EMPTY, RULER_TIMER_READ, RULER_PIN_PULSE, RULER_LOOP, RULERS };

/* `empty`: two reads of the counter with nothing between; contained in all others.
 * `timer_read`: one read of the time stamp.
 * `pin_pulse`: the measurement's pin up and down again.
 * `loop_100`: a hundred rounds of a body with nothing in it: test of the run flag, count, branch. */
static const char *const ruler_names[RULERS] = {"empty", "timer_read", "pin_pulse", "loop_100"};

static uint16_t cycles[BENCH_CORES][RULERS][REPEATS];
static bool measured[BENCH_CORES];

/* Runs 100 iterations of a body that only counts. */
static void empty_body(struct bench_task *self)
{
    while (bench_running()) {
        bench_count(self);
        if (self->count == LOOP_ROUNDS) {
            break;
        }
    }
}

/* Returns the cycles of one empty measurement of this kind. */
static uint16_t measure(enum ruler ruler)
{
    struct bench_task scratch = {.count = 0};
    uint32_t from, to;

    from = cpu_ruler_read();
    switch (ruler) {
    case RULER_TIMER_READ:
        (void)board_timer_ticks();
        break;
    case RULER_PIN_PULSE:
        board_pin_raise();
        board_pin_drop();
        break;
    case RULER_LOOP:
        empty_body(&scratch);
        break;
    default:
        break;
    }
    to = cpu_ruler_read();
    return (uint16_t)cpu_ruler_cycles(from, to);
}

/* Measures all kinds of empty measurements on this core, with interrupts masked. */
void ruler_measure(unsigned core)
{
    uint32_t masked, run_before;

    if (!cpu_ruler_start()) {
        return;
    }
    masked = cpu_mask_interrupts();
    run_before = bench_run;
    bench_run = 1;
    for (unsigned ruler = 0; ruler < RULERS; ruler++) {
        for (unsigned repeat = 0; repeat < REPEATS; repeat++) {
            cycles[core][ruler][repeat] = measure((enum ruler)ruler);
        }
    }
    bench_run = run_before;
    cpu_restore_interrupts(masked);
    cpu_ruler_stop();
    measured[core] = true;
}

/* Sends the cycles of all empty measurements of all cores. */
void ruler_report(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned ruler = 0; measured[core] && ruler < RULERS; ruler++) {
            wire_begin(&output, "ruler");
            wire_text(&output, "name", ruler_names[ruler]);
            wire_number(&output, "core", core);
            wire_number(&output, "n", REPEATS);
            for (unsigned repeat = 0; repeat < REPEATS; repeat++) {
                char key[] = "t0_cycles";

                key[1] = (char)('0' + (char)repeat);
                wire_number(&output, key, cycles[core][ruler][repeat]);
            }
            output_end();
        }
    }
}
