/* Records that override a run. Whatever was being sent is cut by a line feed; the record has an encoder of its own,
 * because the ordinary one may be half way through a line. */
#include "bench/board.h"
#include "bench_core.h"
#include "bench_identity.h"

static struct wire last_line;

/* At most one byte of the other core is still on its way to the port when it sees the silence. */
#define SETTLE_POLLS 1000u

/* Sends a line byte by byte, without regard to the silence. */
static void send(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        board_serial_put((uint8_t)line[i]);
    }
}

/* Starts a record that ends the run: masks interrupts, silences ordinary output, and claims the port for this core. */
static void begin(const char *record)
{
    cpu_mask_interrupts();
    if (!board_claim_last_word()) {
        for (;;) {
            cpu_wait_for_interrupt();
        }
    }
    output_silence();
    for (volatile uint32_t poll = 0; poll < SETTLE_POLLS; poll++) {
    }
    board_serial_put('\n');
    last_line.sequence = output.sequence;
    wire_begin(&last_line, record);
    wire_text(&last_line, "run", bench_identity.run);
    wire_number(&last_line, "core", board_core());
}

/* Sends the record that was begun, or a short error if it is too long, and ends the run. */
static noreturn void finish(void)
{
    /* Too long for a line (a file name, a detail): then at least say that there was something to say. */
    if (!wire_end(&last_line, send)) {
        wire_begin(&last_line, "error");
        wire_text(&last_line, "run", bench_identity.run);
        wire_number(&last_line, "core", board_core());
        wire_number(&last_line, "code", ERROR_LINE_TOO_LONG);
        wire_text(&last_line, "detail", "the record of a failure did not fit");
        wire_end(&last_line, send);
    }
    end_of_run();
}

/* Reports a CPU fault with its registers, and ends the run. */
noreturn void last_words_fault(const struct fault_facts *facts)
{
    begin("fault");
    wire_text(&last_line, "kind", facts->kind);
    wire_number(&last_line, "exception", facts->exception);
    wire_hex(&last_line, "pc", facts->pc);
    wire_hex(&last_line, "lr", facts->lr);
    wire_hex(&last_line, "psr", facts->psr);
    wire_hex(&last_line, "sp", facts->sp);
    finish();
}

/* Reports a failed assertion of the kernel, and ends the run. */
noreturn void last_words_assert(const char *file, uint32_t line)
{
    begin("assert");
    wire_text(&last_line, "file", file);
    wire_number(&last_line, "line", line);
    finish();
}

/* Reports a stack overflow of this task, and ends the run. */
noreturn void last_words_overflow(const char *task)
{
    begin("overflow");
    wire_text(&last_line, "task", task);
    finish();
}

/* Reports an error of the benchmark's code, and ends the run. */
noreturn void last_words_error(enum bench_error_code code, const char *detail)
{
    begin("error");
    wire_number(&last_line, "code", code);
    wire_text(&last_line, "detail", detail);
    finish();
}

/* Does nothing: the virtual board stops at its address. It is a function of its own, never inlined and never merged. */
__attribute__((noinline, noclone)) void bench_done(void)
{
    __asm volatile("" ::: "memory");
}

/* Stops the virtual board at bench_done(), or sleeps for good on silicon. */
noreturn void end_of_run(void)
{
    cpu_mask_interrupts();
    board_serial_flush();
    bench_done();
    for (;;) {
        cpu_wait_for_interrupt();
    }
}
