/* The ordinary records: one encoder, one line at a time, from the one context that sends at that moment (start-up,
 * then the control task). */
#include "bench/board.h"
#include "bench_core.h"

struct wire output;

static volatile uint32_t silenced;

/* Makes ordinary records wait for ever, because a record that ends the run is being sent. */
void output_silence(void)
{
    silenced = 1;
}

/* Sends an ordinary line byte by byte, unless output is silenced. */
void output_send(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        /* The other core may have failed meanwhile: its record must not be torn by the rest of this line. */
        while (silenced != 0) {
        }
        board_serial_put((uint8_t)line[i]);
    }
}

/* Completes and sends the record on `output`. A record that is too long ends the run. */
void output_end(void)
{
    if (!wire_end(&output, output_send)) {
        last_words_error(ERROR_LINE_TOO_LONG, "a record exceeds the line length");
    }
}
