/* Instrument `counter`: the board's cycle counter, read as the last act before the interval and the first after it. The
 * reading at the start is put into memory, because the interval may end in another task or in a handler; that store, and
 * what a read costs, is in every sample. The series instrument.empty says how much; nothing is subtracted here. */
#pragma once

#include "bench/board.h"

extern volatile uint32_t instrument_from;
extern volatile uint32_t instrument_from_ticks;

/* Returns the cycles from one reading to another of a counter that may have wrapped more than once between them. */
uint32_t instrument_unwrap(uint32_t from, uint32_t to);

/* Starts the measurement of an interval. */
static inline void instrument_start(void)
{
    if (CYCLE_COUNTER_BITS < 32) {
        instrument_from_ticks = (uint32_t)board_timer_ticks();
    }
    instrument_from = cycle_counter_read();
}

/* Starts the measurement of an interval that the rise of the output pin begins. */
static inline void instrument_start_by_pin(void)
{
    instrument_start();
}

/* Ends the measurement of an interval. Returns its length if the instrument knows it. */
static inline uint32_t instrument_stop(void)
{
    uint32_t to = cycle_counter_read();

    return CYCLE_COUNTER_BITS < 32 ? instrument_unwrap(instrument_from, to) : to - instrument_from;
}
