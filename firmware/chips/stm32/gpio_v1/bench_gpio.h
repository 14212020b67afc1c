/* GPIO of the STM32F1 (RM0008, 9): four bits a pin hold mode and configuration; alternate functions are fixed. */
#pragma once

#include "bench_family.h"

#define GPIO_INPUT_FLOATING 0x4u
#define GPIO_OUTPUT_50MHZ 0x3u
#define GPIO_ALTERNATE_50MHZ 0xBu

/* Sets the configuration code of a pin. */
static inline void gpio_configure(unsigned port, unsigned pin, uint32_t code)
{
    unsigned shift = 4u * (pin & 7u);

    enable_clock(GPIO_ENABLE, GPIO_ENABLE_BIT(port));
    change_bits(GPIO_BASE(port) + (pin < 8 ? 0x00u : 0x04u), 0xFu << shift, code << shift);
}

/* Makes a pin an input. */
static inline void gpio_input(unsigned port, unsigned pin)
{
    gpio_configure(port, pin, GPIO_INPUT_FLOATING);
}

/* Makes a pin an output. */
static inline void gpio_output(unsigned port, unsigned pin)
{
    gpio_configure(port, pin, GPIO_OUTPUT_50MHZ);
}

/* Connects two pins to a UART's transmitter and receiver. */
static inline void gpio_uart(unsigned tx_port, unsigned tx_pin, unsigned rx_port, unsigned rx_pin)
{
    gpio_configure(tx_port, tx_pin, GPIO_ALTERNATE_50MHZ);
    gpio_configure(rx_port, rx_pin, GPIO_INPUT_FLOATING);
}
