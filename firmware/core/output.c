/* The ordinary records: one encoder, one line at a time, from the one context that sends at that moment (start-up,
 * then the control task). */
#include "bench/board.h"
#include "bench_core.h"

struct wire output;

static volatile uint32_t silenced;

void output_silence(void)
{
    silenced = 1;
}

void output_send(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        /* The other core may have failed meanwhile: its record must not be torn by the rest of this line. */
        while (silenced != 0) {
        }
        board_serial_put((uint8_t)line[i]);
    }
}

void output_end(void)
{
    if (!wire_end(&output, output_send)) {
        last_words_error(ERROR_LINE_TOO_LONG, "a record exceeds the line length");
    }
}
