/* What a board gives. Everything here works before the kernel starts, inside it, and after it has failed.
 *
 * The board's facts (clock, interrupt line, core count) are data in boards/<name>/board.toml and arrive as
 * bench_board_facts.h; the code below is what data cannot say. bench_cpu.h comes from cpus/<cpu named by board.toml>. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench_board_facts.h"
#include "bench_cpu.h"

/* Starts clocks, timer, serial port and pins. Called once, on core 0, before anything else. */
void board_init(void);

/* Returns the time since boot in units of 1 / BOARD_TIMER_HZ seconds. May be called on any core and in any context;
 * the 64 bits are consistent. */
uint64_t board_timer_ticks(void);

/* The cycle counter: free for measurements while a kernel runs, counting up at the core's clock. The cpu's or the board's
 * bench_cycle_counter.h gives:
 *     CYCLE_COUNTER_BITS         width; it wraps there
 *     cycle_counter_start()      once, before the first read
 *     cycle_counter_read()       its value, the bits above the width 0                                               */
#include "bench_cycle_counter.h"

/* Sends one byte. It polls and uses no interrupt and no buffer, so it also works in a fault handler. It waits for room,
 * but not for ever: a dead port must not hide a fault from a debugger. */
void board_serial_put(uint8_t byte);

/* Waits until the last byte has left the wire. */
void board_serial_flush(void);

/* Claims the right to send the record that ends the run. Returns true for the first caller on any core, and false ever
 * after. The first caller reports the failure, and the others stay quiet. */
bool board_claim_last_word(void);

/* Returns the number of the core that executes this. */
static inline unsigned board_core(void)
{
#if BOARD_CORES > 1
    return *(const volatile uint32_t *)BOARD_CORE_ID_ADDRESS;
#else
    return 0;
#endif
}

/* The software interrupt: a line without a source, pended by software, taken by the core that pends it.
 * The handler is the vector itself, so that nothing stands between exception entry and the measured call:
 *     void BOARD_SOFT_IRQ_HANDLER(void) { ... }                                                                      */
#define BOARD_VECTOR_OF_LINE(line) BOARD_VECTOR_OF_LINE_(line)
#define BOARD_VECTOR_OF_LINE_(line) isr_irq##line
#define BOARD_SOFT_IRQ_HANDLER BOARD_VECTOR_OF_LINE(BOARD_IRQ_SOFT)

/* Enables the software interrupt's line, on the calling core only. */
static inline void board_soft_irq_enable(unsigned urgency)
{
    cpu_irq_enable(BOARD_IRQ_SOFT, urgency, BOARD_IRQ_PRIORITY_BITS);
}

/* Pends the board's software interrupt on this core. */
static inline void board_soft_irq_pend(void)
{
    cpu_irq_pend(BOARD_IRQ_SOFT);
}

/* The measurement's output pin, low at start, and an input that a wire (or the virtual board) may join to it. The board's
 * bench_board_pins.h gives, each as one store:
 *     board_pin_raise()        board_pin_drop()
 *     board_edge_irq_clear()   the first act of the input's handler, or it is entered again
 * The handler is the vector itself:
 *     void BOARD_EDGE_IRQ_HANDLER(void) { ... }                                                                      */
#include "bench_board_pins.h"

#define BOARD_EDGE_IRQ_HANDLER BOARD_VECTOR_OF_LINE(BOARD_PINS_IN_IRQ)

/* Enables the interrupt of the input pin's rising edges, on the calling core. */
void board_edge_irq_enable(unsigned urgency);
