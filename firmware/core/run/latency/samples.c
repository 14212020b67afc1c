/* Latencies: the samples of every series, kept raw and in order, and the end of the run when all are there.
 *
 * All instruments run the same code here and keep the same memory, so that nothing but the ends of the intervals differs
 * between their images; only the counter has something to keep and to send. */
#include "bench/latency.h"

#include "../bench_run.h"

/* The longest run in a line of samples: two numbers of ten digits, a comma, an x; then " n=" and three digits. */
#define RUN_CHARS 22u
#define COUNT_CHARS 6u

static const char *const ids[BENCH_SERIES] = {
#define ID(id) id,
    BENCH_SERIES_IDS(ID)
#undef ID
};

static uint32_t samples[BENCH_SERIES][BENCH_SAMPLES];
static uint32_t taken[BENCH_SERIES];
static uint32_t unfinished = BENCH_SERIES;

/* Appends a sample to a series while the window is open. The last missing sample ends the run of the bodies. */
void bench_keep(enum bench_series series, uint32_t raw)
{
    uint32_t count = taken[series];

    if (bench_window_state != 1 || count == BENCH_SAMPLES) {
        return;
    }
    samples[series][count] = raw;
    taken[series] = count + 1u;
    if (count + 1u == BENCH_SAMPLES) {
        unfinished--;
        if (unfinished == 0) {
            bench_run = 0;
        }
    }
}

/* Starts the cycle counter, with which intervals are measured. */
void measure_prepare(void)
{
    cycle_counter_start();
}

/* Measures the instrument with nothing between its ends, with interrupts masked, because the ruler
 * itself is measured here. */
void measure_opened(void)
{
    uint32_t masked = cpu_mask_interrupts();

    for (uint32_t i = 0; i < BENCH_SAMPLES; i++) {
        bench_start(SERIES_INSTRUMENT_EMPTY);
        bench_stop(SERIES_INSTRUMENT_EMPTY);
    }
    cpu_restore_interrupts(masked);
}

/* Returns how many values from the first on are equal. */
static uint32_t run_length(const uint32_t *values, uint32_t count)
{
    uint32_t length = 1;

    while (length < count && values[length] == values[0]) {
        length++;
    }
    return length;
}

/* Sends one line with as many samples as fit, and returns how many that were. */
static uint32_t send_line(const char *id, const uint32_t *values, uint32_t count)
{
    uint32_t sent = 0;

    wire_begin(&output, "sample");
    wire_text(&output, "metric", id);
    wire_key(&output, "values");
    while (sent < count && wire_room(&output) >= RUN_CHARS + COUNT_CHARS) {
        uint32_t repeats = run_length(values + sent, count - sent);

        wire_list_run(&output, sent == 0, values[sent], repeats);
        sent += repeats;
    }
    wire_number(&output, "n", sent);
    output_end();
    return sent;
}

/* Sends the samples of all series. A series that lacks samples ends the run with an error. */
void measure_report(void)
{
    wire_begin(&output, "param");
    wire_text(&output, "name", "instrument");
    wire_text(&output, "value", BENCH_INSTRUMENT);
    output_end();
    for (unsigned series = 0; series < BENCH_SERIES; series++) {
        if (taken[series] != BENCH_SAMPLES) {
            last_words_error(ERROR_SAMPLES, ids[series]);
        }
        for (uint32_t sent = 0; sent < BENCH_SAMPLES;) {
            sent += send_line(ids[series], samples[series] + sent, BENCH_SAMPLES - sent);
        }
    }
}
