/* STM32: the asynchronous interrupt is the update of a timer of 16 bits that nothing else uses. bench_async_timer_registers.h of
 * the family says which: ASYNC_TIMER_BASE, its clock's ASYNC_TIMER_ENABLE (register) and ASYNC_TIMER_ENABLE_BIT, and
 * ASYNC_TIMER_APB_DIV, the divider of its bus. */
#pragma once

#include "bench_async_timer_registers.h"
#include "bench_clock_facts.h"

/* A timer runs at twice its bus's clock unless the bus runs undivided. */
#define ASYNC_CYCLES_PER_COUNT (CLOCK_AXI_DIV * (ASYNC_TIMER_APB_DIV == 1 ? 1u : ASYNC_TIMER_APB_DIV / 2u))
#define ASYNC_TIMER(offset) CPU_REGISTER(ASYNC_TIMER_BASE + (offset))
#define ASYNC_TIMER_CR1 ASYNC_TIMER(0x00u)
#define ASYNC_TIMER_DIER ASYNC_TIMER(0x0Cu)
#define ASYNC_TIMER_SR ASYNC_TIMER(0x10u)
#define ASYNC_TIMER_EGR ASYNC_TIMER(0x14u)
#define ASYNC_TIMER_CNT ASYNC_TIMER(0x24u)
#define ASYNC_TIMER_PSC ASYNC_TIMER(0x28u)
#define ASYNC_TIMER_ARR ASYNC_TIMER(0x2Cu)

/* Starts the timer whose interrupt comes after `cycles`, at this urgency. */
static inline void async_start(unsigned urgency, uint32_t cycles)
{
    CPU_REGISTER(ASYNC_TIMER_ENABLE) |= 1u << ASYNC_TIMER_ENABLE_BIT;
    (void)CPU_REGISTER(ASYNC_TIMER_ENABLE); /* the block answers only some cycles after the write */
    ASYNC_TIMER_PSC = 0;
    ASYNC_TIMER_ARR = cycles / ASYNC_CYCLES_PER_COUNT - 1u;
    ASYNC_TIMER_EGR = 1u; /* the prescaler takes effect, the counter is 0 */
    ASYNC_TIMER_SR = 0;
    ASYNC_TIMER_DIER = 1u;
    cpu_irq_enable(BOARD_IRQ_ASYNCHRONOUS, urgency, BOARD_IRQ_PRIORITY_BITS);
    ASYNC_TIMER_CR1 = 1u;
}

/* Returns the cycles since the timer's last event. */
static inline uint32_t async_elapsed_cycles(void)
{
    return ASYNC_TIMER_CNT * ASYNC_CYCLES_PER_COUNT;
}

/* Clears the interrupt, and sets the cycles until the next one. The flag is read back: otherwise the handler could be
 * over before the timer has let go of the interrupt line. */
static inline void async_again(uint32_t cycles)
{
    ASYNC_TIMER_SR = 0;
    ASYNC_TIMER_ARR = cycles / ASYNC_CYCLES_PER_COUNT - 1u;
    (void)ASYNC_TIMER_SR;
}

/* Stops the timer and its interrupt. */
static inline void async_stop(void)
{
    ASYNC_TIMER_CR1 = 0;
    ASYNC_TIMER_DIER = 0;
    ASYNC_TIMER_SR = 0;
    (void)ASYNC_TIMER_SR;
}
