/* Task activation, what its two programs share: the handler of the edge, and which of the two intervals it is.
 *
 * Starts the clock   the measurement's pin rises, which a wire leads back to an input that interrupts.
 * Ends the clock     isr.entry: the first act of the handler. isr.activates_task: the first act of the activated task.
 * Inside by design   the way from the store to the pin, the input's synchroniser, the exception's entry, a test of which
 *                    interval it is; then, for the task, the give from the handler, the exit, the switch, the task's way
 *                    out of its take.
 * Excluded           making the objects, dropping the pin, what happens until the next edge. */
#pragma once

#include "bench/latency.h"

extern port_semaphore_t activation;

/* How far the next edge is measured. None is expected while the instrument `pin` measures itself. */
enum target { TARGET_NONE, TARGET_HANDLER, TARGET_TASK };

extern volatile enum target target;

/* Reported as check: edges whose handler had not run. */
extern uint32_t not_interrupted;
extern volatile uint32_t handler_entries;
