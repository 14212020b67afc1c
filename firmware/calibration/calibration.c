/* Micro-benchmarks of the core and its buses, alone, without a kernel's work: each row does one thing between two readings
 * of the cycle counter, interrupts masked. A row runs ROUNDS times; the first rounds warm caches and flash buffers and are
 * not sent. Nothing is subtracted: silicon and the virtual board run the same image, and what is in both cancels out.
 *
 * The rows' names, and what they are about, stand in calibration.toml. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_calibration.h"

#define WARM_ROUNDS 3u
#define ROUNDS (9u + WARM_ROUNDS)
#define ROOM_FOR_A_RUN 60u /* and for the end of the line */

volatile uint32_t bench_window_state;

static uint32_t results[ROUNDS][VALUES_MOST];

/* Returns the value of a row that is sent at this place: all rounds of its first value come first. */
static uint32_t result(uint32_t place)
{
    return results[WARM_ROUNDS + place % (ROUNDS - WARM_ROUNDS)][place / (ROUNDS - WARM_ROUNDS)];
}

/* Begins a record with the values of a row. */
static void begin_line(const struct row *row)
{
    wire_begin(&output, "sample");
    wire_text(&output, "metric", row->name);
    wire_key(&output, "values");
}

/* Ends and sends the record of `count` values. */
static void end_line(uint32_t count)
{
    wire_number(&output, "n", count);
    output_end();
}

/* Sends the values of a row: value by value, each in all rounds. So a value that does not change from round to
 * round is one run on the wire. */
static void send(const struct row *row)
{
    uint32_t all = (ROUNDS - WARM_ROUNDS) * row->values, in_line = 0, repeats;

    for (uint32_t sent = 0; sent < all; sent += repeats) {
        uint32_t value = result(sent);

        for (repeats = 1; sent + repeats < all && result(sent + repeats) == value; repeats++) {
        }
        if (in_line == 0) {
            begin_line(row);
        }
        wire_list_run(&output, in_line == 0, value, repeats);
        in_line += repeats;
        if (wire_room(&output) < ROOM_FOR_A_RUN || sent + repeats == all) {
            end_line(in_line);
            in_line = 0;
        }
    }
}

/* Measures each row with interrupts masked, and sends its values. Ends the run with an error if the
 * core has no cycle counter. */
noreturn void run_program(void)
{
    if (!cpu_ruler_start()) {
        last_words_error(ERROR_PREPARE, "the core has no cycle counter");
    }
    for (size_t i = 0; i < row_count; i++) {
        uint32_t masked = cpu_mask_interrupts();

        for (uint32_t round = 0; round < ROUNDS; round++) {
            rows[i].measure(results[round]);
        }
        cpu_restore_interrupts(masked);
        board_serial_flush();
        send(&rows[i]);
    }
    run_finish();
}
