/* The RP2040's registers that the kernel's port for two cores names (data sheet 2.3.1.7 and 4.6.5). */
#ifndef RP2040_CORES_H
#define RP2040_CORES_H

#include <stddef.h>
#include <stdint.h>

/* The single-cycle registers of both cores: the core's number, the FIFO between the cores, and the hardware spinlocks. */
typedef struct {
    volatile uint32_t CPUID;
    uint32_t pins[19];
    volatile uint32_t FIFO_ST;
    volatile uint32_t FIFO_WR;
    volatile uint32_t FIFO_RD;
    uint32_t arithmetic[41];
    volatile uint32_t SPINLOCK[32];
} rp2040_sio_t;

/* The timer, of which the kernel reads the lower word. */
typedef struct {
    uint32_t latched[10];
    volatile uint32_t TIMERAWL;
} rp2040_timer_t;

_Static_assert(offsetof(rp2040_sio_t, FIFO_ST) == 0x50, "the place of FIFO_ST");
_Static_assert(offsetof(rp2040_sio_t, SPINLOCK) == 0x100, "the place of SPINLOCK0");
_Static_assert(offsetof(rp2040_timer_t, TIMERAWL) == 0x28, "the place of TIMERAWL");

#define SIO ((rp2040_sio_t *)0xD0000000u)
#define SIO_FIFO_ST_VLD (1u << 0) /* a word can be read */
#define SIO_FIFO_ST_RDY (1u << 1) /* a word can be written */
#define SIO_FIFO_ST_WOF (1u << 2) /* a word was written without room */
#define SIO_FIFO_ST_ROE (1u << 3) /* a word was read without one there */
#define TIMER ((rp2040_timer_t *)0x40054000u)

#endif
