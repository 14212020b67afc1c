/* The measurement's pins: an output, and an input whose rising edge interrupts. */
#include "bench_pins.h"

#include "bench/board.h"
#include "bench_family.h"
#include "bench_gpio.h"

/* Makes the benchmark's pins an output and an input. */
void pins_start(void)
{
    const unsigned shift = 4u * (BOARD_PINS_IN_NUMBER % 4u);

    gpio_output(BOARD_PINS_OUT_PORT, BOARD_PINS_OUT_NUMBER);
    gpio_input(BOARD_PINS_IN_PORT, BOARD_PINS_IN_NUMBER);
    enable_clock(EXTI_PORTS_ENABLE, EXTI_PORTS_ENABLE_BIT);
    change_bits(EXTI_PORTS(BOARD_PINS_IN_NUMBER), 0xFu << shift, BOARD_PINS_IN_PORT << shift);
    change_bits(EXTI_RTSR, 0, 1u << BOARD_PINS_IN_NUMBER);
}

/* Enables the interrupt of the input pin's edge, at this urgency. */
void board_edge_irq_enable(unsigned urgency)
{
    board_edge_irq_clear();
    change_bits(EXTI_IMR, 0, 1u << BOARD_PINS_IN_NUMBER);
    cpu_irq_enable(BOARD_PINS_IN_IRQ, urgency, BOARD_IRQ_PRIORITY_BITS);
}
