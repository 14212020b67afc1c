/* The frame of every image: what it is, what its program finds out, the end. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_identity.h"

/* Sends the record that identifies the image: benchmark, kernel, board, clocks. */
static void send_begin(void)
{
    wire_begin(&output, "begin");
    wire_text(&output, "run", bench_identity.run);
    wire_number(&output, "wire", WIRE_WIRE_VERSION);
    wire_text(&output, "bench", bench_identity.bench);
    wire_text(&output, "kernel", BENCH_KERNEL);
    wire_text(&output, "board", BENCH_BOARD);
    wire_number(&output, "cores", BENCH_CORES);
    wire_number(&output, "clock_hz", BOARD_CLOCK_SYS_HZ);
    wire_number(&output, "window_us", bench_identity.window_us);
    wire_number(&output, "timer_hz", BOARD_TIMER_HZ);
    wire_hex(&output, "manifest", bench_identity.manifest);
    output_end();
}

/* Sends a record for each parameter of the benchmark. */
static void send_params(void)
{
    for (size_t i = 0; i < bench_param_count; i++) {
        wire_begin(&output, "param");
        wire_text(&output, "name", bench_params[i].name);
        wire_number(&output, "value", bench_params[i].value);
        output_end();
    }
}

/* Sends the end record of a complete run, and ends the run. */
noreturn void run_finish(void)
{
    wire_begin(&output, "end");
    wire_text(&output, "run", bench_identity.run);
    wire_number(&output, "records", output.sequence);
    wire_text(&output, "status", "ok");
    output_end();
    end_of_run();
}

int main(void);

/* Runs the image: starts the board, sends the records that identify the image, and runs its program. */
int main(void)
{
    /* No instruction: a symbol whose value the virtual board holds against the interrupts' registers. */
    __asm__ volatile(".global bench_isr_urgency\n\t.equ bench_isr_urgency, %c0" ::"i"(PORT_ISR_URGENCY));
    board_init();
    send_begin();
    send_params();
    port_prepare();
    run_program();
}
