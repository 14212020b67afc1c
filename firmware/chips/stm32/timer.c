/* The time base of an STM32 board; see bench_timer.h. No interrupt: a measured window must hold none that it did not ask for. */
#include "bench_timer.h"

#include "bench/board.h"
#include "bench_family.h"

#define TIM_CR1(base) REGISTER((base) + 0x00u)
#define TIM_CR2(base) REGISTER((base) + 0x04u)
#define TIM_SMCR(base) REGISTER((base) + 0x08u)
#define TIM_EGR(base) REGISTER((base) + 0x14u)
#define TIM_CNT(base) REGISTER((base) + 0x24u)
#define TIM_PSC(base) REGISTER((base) + 0x28u)
#define TIM_ARR(base) REGISTER((base) + 0x2Cu)

#define CR1_CEN (1u << 0)
#define CR2_MMS_UPDATE (2u << 4) /* each overflow is a trigger for others */
#define SMCR_COUNT_TRIGGERS 7u   /* external clock mode 1 */
#define EGR_UG (1u << 0)

_Static_assert(TIMER_CLOCK_HZ % BOARD_TIMER_HZ == 0 && TIMER_CLOCK_HZ / BOARD_TIMER_HZ <= 65536,
               "the timer cannot count in units of BOARD_TIMER_HZ at this clock");

#ifdef TIMER_HIGH_BASE

/* Sets up two timers of 16 bits as one of 32 bits: the upper one counts the overflows of the lower one. */
static void start(void)
{
    enable_clock(TIMER_HIGH_ENABLE, TIMER_HIGH_ENABLE_BIT);
    TIM_CR2(TIMER_LOW_BASE) = CR2_MMS_UPDATE;
    TIM_ARR(TIMER_LOW_BASE) = 0xFFFFu;
    TIM_EGR(TIMER_LOW_BASE) = EGR_UG; /* loads the prescaler; a trigger too, so before the other one listens */
    TIM_ARR(TIMER_HIGH_BASE) = 0xFFFFu;
    TIM_SMCR(TIMER_HIGH_BASE) = (TIMER_HIGH_TRIGGER << 4) | SMCR_COUNT_TRIGGERS;
    TIM_CNT(TIMER_HIGH_BASE) = 0;
    TIM_CR1(TIMER_HIGH_BASE) = CR1_CEN;
}

/* Returns the count of the two timers as one of 32 bits. The upper timer hears of an overflow some cycles late, so the
 * pair may be out of step while the lower one reads 0: then both are read again. */
static uint32_t count(void)
{
    for (;;) {
        uint32_t high = TIM_CNT(TIMER_HIGH_BASE);
        uint32_t low = TIM_CNT(TIMER_LOW_BASE);

        if (low != 0 && TIM_CNT(TIMER_HIGH_BASE) == high) {
            return (high << 16) | low;
        }
    }
}

#else

/* Sets up the timer to count 32 bits, with the new prescaler. */
static void start(void)
{
    TIM_ARR(TIMER_LOW_BASE) = 0xFFFFFFFFu;
    TIM_EGR(TIMER_LOW_BASE) = EGR_UG;
}

/* Returns the timer's count of 32 bits. */
static uint32_t count(void)
{
    return TIM_CNT(TIMER_LOW_BASE);
}

#endif

/* Starts the board's timer from 0, in units of 1 / BOARD_TIMER_HZ seconds. */
void timer_start(void)
{
    enable_clock(TIMER_LOW_ENABLE, TIMER_LOW_ENABLE_BIT);
    TIM_CR1(TIMER_LOW_BASE) = 0;
    TIM_PSC(TIMER_LOW_BASE) = TIMER_CLOCK_HZ / BOARD_TIMER_HZ - 1u;
    start();
    TIM_CNT(TIMER_LOW_BASE) = 0;
    TIM_CR1(TIMER_LOW_BASE) = CR1_CEN;
}

/* Returns the board's timer as 64 bits, in units of 1 / BOARD_TIMER_HZ seconds. Each call counts the rounds of the 32
 * bits, so one call in 71 minutes is enough, and no run lasts that long. */
uint64_t board_timer_ticks(void)
{
    static uint32_t rounds, last;
    uint32_t masked = cpu_mask_interrupts();
    uint32_t now = count();
    uint64_t ticks;

    if (now < last) {
        rounds++;
    }
    last = now;
    ticks = ((uint64_t)rounds << 32) | now;
    cpu_restore_interrupts(masked);
    return ticks;
}
