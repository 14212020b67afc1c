/* Interrupts of the calling core. */
#pragma once

#include "pico.h"

#define SIO_IRQ_PROC0 15u

typedef void (*irq_handler_t)(void);

void irq_set_priority(uint32_t line, uint8_t priority);
void irq_set_enabled(uint32_t line, bool enabled);

/* The vector table is static: this only makes sure that the slot already leads to `handler`. */
void irq_set_exclusive_handler(uint32_t line, irq_handler_t handler);
