/* The frame of every image: what it is, what its program finds out, the end. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"

static void send_begin(void)
{
    wire_begin(&output, "begin");
    wire_text(&output, "run", BENCH_RUN_ID);
    wire_number(&output, "wire", WIRE_WIRE_VERSION);
    wire_text(&output, "bench", BENCH_ID);
    wire_text(&output, "kernel", BENCH_KERNEL);
    wire_text(&output, "board", BENCH_BOARD);
    wire_number(&output, "cores", BENCH_CORES);
    wire_number(&output, "clock_hz", BOARD_CLOCK_SYS_HZ);
    wire_number(&output, "window_us", (uint64_t)BENCH_WINDOW_MS * 1000u);
    wire_number(&output, "timer_hz", BOARD_TIMER_HZ);
    wire_hex(&output, "manifest", BENCH_MANIFEST);
    output_end();
}

static void send_params(void)
{
    static const struct {
        const char *name;
        uint32_t value;
    } params[] = {
#define PARAM(name, value) {name, value},
        BENCH_PARAMS(PARAM)
#undef PARAM
        {"tick_hz", PORT_TICK_HZ},
        {"time_slice_ticks", PORT_TIME_SLICE_TICKS},
    };

    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
        wire_begin(&output, "param");
        wire_text(&output, "name", params[i].name);
        wire_number(&output, "value", params[i].value);
        output_end();
    }
}

noreturn void run_finish(void)
{
    wire_begin(&output, "end");
    wire_text(&output, "run", BENCH_RUN_ID);
    wire_number(&output, "records", output.sequence);
    wire_text(&output, "status", "ok");
    output_end();
    end_of_run();
}

int main(void);

int main(void)
{
    board_init();
    send_begin();
    send_params();
    port_prepare();
    run_program();
}
