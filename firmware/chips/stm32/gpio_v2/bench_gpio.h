/* GPIO of all STM32 families but the F1 (RM0090, 8): mode, speed and a number of the alternate function for each pin. */
#pragma once

#include "bench_family.h"

#define GPIO_MODER(port) (GPIO_BASE(port) + 0x00u)
#define GPIO_OSPEEDR(port) (GPIO_BASE(port) + 0x08u)
#define GPIO_AFR(port, pin) (GPIO_BASE(port) + 0x20u + ((pin) < 8 ? 0u : 4u))

#define GPIO_MODE_INPUT 0u
#define GPIO_MODE_OUTPUT 1u
#define GPIO_MODE_ALTERNATE 2u
#define GPIO_SPEED_HIGHEST 3u

/* Sets the mode of a pin. */
static inline void gpio_mode(unsigned port, unsigned pin, uint32_t mode)
{
    enable_clock(GPIO_ENABLE, GPIO_ENABLE_BIT(port));
    change_bits(GPIO_MODER(port), 3u << (2u * pin), mode << (2u * pin));
}

/* Makes a pin an input. */
static inline void gpio_input(unsigned port, unsigned pin)
{
    gpio_mode(port, pin, GPIO_MODE_INPUT);
}

/* Makes a pin an output. */
static inline void gpio_output(unsigned port, unsigned pin)
{
    gpio_mode(port, pin, GPIO_MODE_OUTPUT);
    change_bits(GPIO_OSPEEDR(port), 3u << (2u * pin), GPIO_SPEED_HIGHEST << (2u * pin));
}

/* Connects a pin to an alternate function. */
static inline void gpio_alternate(unsigned port, unsigned pin, uint32_t function)
{
    unsigned shift = 4u * (pin & 7u);

    enable_clock(GPIO_ENABLE, GPIO_ENABLE_BIT(port)); /* registers do not answer before */
    change_bits(GPIO_AFR(port, pin), 0xFu << shift, function << shift);
    gpio_mode(port, pin, GPIO_MODE_ALTERNATE);
}

/* Connects two pins to a UART's transmitter and receiver. */
static inline void gpio_uart(unsigned tx_port, unsigned tx_pin, unsigned rx_port, unsigned rx_pin)
{
    gpio_alternate(tx_port, tx_pin, UART_ALTERNATE_FUNCTION);
    gpio_alternate(rx_port, rx_pin, UART_ALTERNATE_FUNCTION);
}
