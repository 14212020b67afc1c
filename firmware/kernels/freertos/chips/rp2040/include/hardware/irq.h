/* Interrupts of the calling core. */
#pragma once

#include "pico.h"

#define SIO_IRQ_PROC0 15u

typedef void (*irq_handler_t)(void);

void irq_set_priority(uint32_t line, uint8_t priority);
void irq_set_enabled(uint32_t line, bool enabled);

/* Checks that the vector table, which is constant, has this handler for an interrupt line. */
void irq_set_exclusive_handler(uint32_t line, irq_handler_t handler);
