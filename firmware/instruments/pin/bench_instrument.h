/* Instrument `pin`: the measurement's pin is high during the interval. Its edges are stamped by the virtual board, or by a
 * logic analyser on a real one; the image keeps no time of its own. */
#pragma once

#include "bench/board.h"

/* Starts the measurement of an interval. */
static inline void instrument_start(void)
{
    board_pin_raise();
}

/* Does nothing: the rise of the output pin, which comes next, begins the interval itself. */
static inline void instrument_start_by_pin(void)
{
}

/* Ends the measurement of an interval. Returns its length if the instrument knows it. */
static inline uint32_t instrument_stop(void)
{
    board_pin_drop();
    return 0;
}
