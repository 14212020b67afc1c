/* The measured window: what stands at its two edges.
 *
 * Both edges are taken by the control task while it holds core 0, so core 0's counters stand still. Another core runs
 * on; its counters are read within a few microseconds of the stamp at both edges, the same distance each time.
 * The counts are differences, so the warm-up and the order in which cores start do not enter. */
#include "bench_run.h"

/* 0 set-up, 1 open, 2 closed. The virtual board watches this word: keep every change one plain store. */
volatile uint32_t bench_window_state;

struct window_edges window_edges;

static uint32_t open_counts[BENCH_CORES][BENCH_TASKS_PER_CORE];
static uint32_t close_counts[BENCH_CORES][BENCH_TASKS_PER_CORE];

/* Copies the counts of all tasks. */
static void snapshot(uint32_t counts[BENCH_CORES][BENCH_TASKS_PER_CORE])
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            counts[core][index] = bench_task(core, index)->count;
        }
    }
}

/* Opens the measured window: stores counts and time, then the state word. */
void window_open(void)
{
    snapshot(open_counts);
    window_edges.open_ticks = board_timer_ticks();
    bench_window_state = 1;
}

/* Closes the measured window: stores the state word, then time and counts. */
void window_close(void)
{
    bench_window_state = 2;
    window_edges.close_ticks = board_timer_ticks();
    snapshot(close_counts);
}

/* Returns how often a task's body was counted inside the window. */
uint32_t bench_window_count(unsigned core, unsigned index)
{
    return close_counts[core][index] - open_counts[core][index];
}

/* Sends the window's times, and the counts of all tasks at both edges. */
void window_report(void)
{
    wire_begin(&output, "window");
    wire_number(&output, "n", 0);
    wire_number(&output, "open_ticks", window_edges.open_ticks);
    wire_number(&output, "close_ticks", window_edges.close_ticks);
    output_end();
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            wire_begin(&output, "count");
            wire_number(&output, "n", 0);
            wire_number(&output, "core", core);
            wire_number(&output, "index", index);
            wire_text(&output, "name", "iterations");
            /* A 32-bit counter may wrap inside the window; the two 64-bit figures on the wire must not. */
            wire_number(&output, "open", open_counts[core][index]);
            wire_number(&output, "close", (uint64_t)open_counts[core][index] + bench_window_count(core, index));
            output_end();
        }
    }
}
