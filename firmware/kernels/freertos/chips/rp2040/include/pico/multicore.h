/* The second core: start it, and the FIFO interrupt by which one core asks the other to reschedule. */
#pragma once

#include "hardware/irq.h"
#include "hardware/sync.h"
#include "pico.h"

struct sio_registers {
    volatile uint32_t unused[20];
    volatile uint32_t fifo_st; /* 0x50 */
    volatile uint32_t fifo_wr;
    volatile uint32_t fifo_rd;
};

_Static_assert(offsetof(struct sio_registers, fifo_st) == 0x50, "SIO FIFO_ST lies at offset 0x50");

#define sio_hw ((struct sio_registers *)0xD0000000u)

void multicore_reset_core1(void);
void multicore_launch_core1(void (*entry)(void));

/* Reads and drops all words that the other core has sent. */
static __force_inline void multicore_fifo_drain(void)
{
    while ((sio_hw->fifo_st & 1u) != 0) {
        (void)sio_hw->fifo_rd;
    }
}

/* Clears the error flags of the FIFO between the cores, which keep its interrupt pending. */
static __force_inline void multicore_fifo_clear_irq(void)
{
    sio_hw->fifo_st = 0xFFu; /* clears the sticky overflow and underflow flags */
}

/* Kernel V11.2.0 installs this handler for SMP, but its port.c defines it only together with the SDK's synchronisation
 * interoperability, which is off here. So it is declared here, where port.c sees it, and defined in multicore.c. */
void prvFIFOInterruptHandler(void);
