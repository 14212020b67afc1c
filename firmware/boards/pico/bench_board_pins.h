/* The measurement's pins on a Pico: SIO sets and clears in one cycle; the interrupt is the bank's (RP2040 datasheet,
 * 2.3.1.7 and 2.19.6). */
#pragma once

#define PIN_OUT_SET 0xD0000014u
#define PIN_OUT_CLEAR 0xD0000018u
#define PIN_INTR(pin) (0x400140F0u + 4u * ((pin) / 8u))
#define PIN_EDGE_HIGH(pin) (8u << (4u * ((pin) % 8u)))

/* Drives the measurement's output pin high. */
static inline void board_pin_raise(void)
{
    CPU_REGISTER(PIN_OUT_SET) = 1u << BOARD_PINS_OUT;
}

/* Drives the measurement's output pin low. */
static inline void board_pin_drop(void)
{
    CPU_REGISTER(PIN_OUT_CLEAR) = 1u << BOARD_PINS_OUT;
}

/* Clears the pending edge interrupt of the input pin. */
static inline void board_edge_irq_clear(void)
{
    CPU_REGISTER(PIN_INTR(BOARD_PINS_IN)) = PIN_EDGE_HIGH(BOARD_PINS_IN);
}
