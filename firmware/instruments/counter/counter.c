/* A counter of 16 bits wraps every few hundred microseconds; the board's timer, looked at just outside the interval, tells
 * how often. It is some instructions and at most one tick off, which is far less than half a round of the counter. */
#include "bench_instrument.h"

#define CYCLES_PER_TICK (BOARD_CLOCK_SYS_HZ / BOARD_TIMER_HZ)
#define ROUND (1u << (CYCLE_COUNTER_BITS % 32u))

_Static_assert(BOARD_CLOCK_SYS_HZ % BOARD_TIMER_HZ == 0, "the timer's tick must be a whole number of cycles");
_Static_assert(CYCLE_COUNTER_BITS >= 16 && CYCLE_COUNTER_BITS <= 32, "the cycle counter has another width");

volatile uint32_t instrument_from;
volatile uint32_t instrument_from_ticks;

/* Returns the cycles between two readings of a counter that may have wrapped in between, by the board's timer. */
uint32_t instrument_unwrap(uint32_t from, uint32_t to)
{
    uint32_t fine = (to - from) & (ROUND - 1u);
    uint32_t coarse = ((uint32_t)board_timer_ticks() - instrument_from_ticks) * CYCLES_PER_TICK;

    return fine + ((coarse - fine + ROUND / 2u) & ~(ROUND - 1u));
}
