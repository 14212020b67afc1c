/* RP2040: the asynchronous interrupt is the wrap of a PWM slice whose outputs go nowhere; it counts clk_sys (RP2040
 * datasheet, 4.5). The cycle counter is another slice. */
#pragma once

#define ASYNC_CYCLES_PER_COUNT 1u
#define ASYNC_PWM(offset) CPU_REGISTER(0x40050000u + (offset))
#define ASYNC_SLICE_NUMBER 6u
#define ASYNC_SLICE(offset) ASYNC_PWM(ASYNC_SLICE_NUMBER * 0x14u + (offset))
#define ASYNC_SLICE_CSR ASYNC_SLICE(0x00u)
#define ASYNC_SLICE_DIV ASYNC_SLICE(0x04u)
#define ASYNC_SLICE_CTR ASYNC_SLICE(0x08u)
#define ASYNC_SLICE_TOP ASYNC_SLICE(0x10u)
#define ASYNC_PWM_INTR ASYNC_PWM(0xA4u)
#define ASYNC_PWM_INTE ASYNC_PWM(0xA8u)
#define ASYNC_RESETS 0x4000C000u
#define ASYNC_RESET_PWM (1u << 14)

/* Starts a timer whose interrupt comes every `cycles` cycles, with this urgency. */
static inline void async_start(unsigned urgency, uint32_t cycles)
{
    CPU_REGISTER(ASYNC_RESETS + 0x3000u) = ASYNC_RESET_PWM; /* the alias that clears bits */
    while ((CPU_REGISTER(ASYNC_RESETS + 8u) & ASYNC_RESET_PWM) == 0) {
    }
    ASYNC_SLICE_DIV = 1u << 4;
    ASYNC_SLICE_TOP = cycles - 1u;
    ASYNC_SLICE_CTR = 0;
    ASYNC_PWM_INTR = 1u << ASYNC_SLICE_NUMBER;
    ASYNC_PWM_INTE = 1u << ASYNC_SLICE_NUMBER;
    cpu_irq_enable(BOARD_IRQ_ASYNCHRONOUS, urgency, BOARD_IRQ_PRIORITY_BITS);
    ASYNC_SLICE_CSR = 1u;
}

/* Returns the cycles since the interrupt was requested last. */
static inline uint32_t async_elapsed_cycles(void)
{
    return ASYNC_SLICE_CTR;
}

/* Clears the interrupt, and sets the cycles until the next one. */
static inline void async_again(uint32_t cycles)
{
    ASYNC_PWM_INTR = 1u << ASYNC_SLICE_NUMBER;
    ASYNC_SLICE_TOP = cycles - 1u;
}

/* Stops the timer and its interrupt. */
static inline void async_stop(void)
{
    ASYNC_SLICE_CSR = 0;
    ASYNC_PWM_INTE = 0;
    ASYNC_PWM_INTR = 1u << ASYNC_SLICE_NUMBER;
}
