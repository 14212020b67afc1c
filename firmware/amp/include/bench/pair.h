/* What a benchmark of two kernels uses: the two ways by which the images on the two cores send each other a word.
 *
 * The board's bench_pair_ways.h in firmware/amp/<board> gives:
 *     PAIR_CORE                    0 or 1, the core that this image runs on
 *     pair_fifo_enable(urgency)    words from the other core interrupt this one from now on
 *     pair_fifo_send(word)         at most as many words at a time as the hardware holds: one is always possible
 *     pair_fifo_read()             by the handler, for each interrupt: the word
 *     pair_try_lock()              takes the hardware spinlock between the images; false: the other one holds it
 *     pair_lock() pair_unlock()    waits for it, gives it back
 *     PAIR_HOLDER                  a word that both images see, zero at the start
 *     pair_memory_send(word)       into shared memory, under the hardware spinlock
 *     pair_memory_has_word()       one look, without the lock
 *     pair_memory_read()           the word, under the lock
 * The handler is the vector itself:
 *     void PAIR_FIFO_HANDLER(void) { ... }                                                                            */
#pragma once

#include "bench/board.h"
#include "bench_amp.h"

#define PAIR_CORE AMP_CORE
#define PAIR_FIFO_HANDLER BOARD_VECTOR_OF_LINE(AMP_FIFO_IRQ)

#include "bench_pair_ways.h"
