/* The measurement's pins on an STM32 board: one store sets or clears, one store answers the interrupt. */
#pragma once

#include "bench_pin_facts.h"
#include "bench_pin_registers.h"

/* Sets the benchmark's output pin high. */
static inline void board_pin_raise(void)
{
    CPU_REGISTER(PIN_BSRR(BOARD_PINS_OUT_PORT)) = 1u << BOARD_PINS_OUT_NUMBER;
}

/* Sets the benchmark's output pin low. */
static inline void board_pin_drop(void)
{
    CPU_REGISTER(PIN_BSRR(BOARD_PINS_OUT_PORT)) = 1u << (BOARD_PINS_OUT_NUMBER + 16u);
}

/* Clears the pending flag of the input pin's edge interrupt. */
static inline void board_edge_irq_clear(void)
{
    CPU_REGISTER(PIN_EXTI_PENDING) = 1u << BOARD_PINS_IN_NUMBER;
}
