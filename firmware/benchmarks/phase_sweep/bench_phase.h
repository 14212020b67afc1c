/* Phase sweep, what its two programs share: one period of the chosen service, and the handler of the idle interrupt.
 *
 * Starts the clock   the window opens; for `rtoslab worst-case`: the software interrupt's line is raised, from outside.
 * Ends the clock     the window closes; there: the handler's first instruction, and that of the task it wakes.
 * Inside by design   the service's call and the one that undoes it, so that each period finds the objects as the one before.
 * Excluded           making the objects. Nothing in the image raises the interrupt; a wake that comes is an error (check
 *                    `wakes`), because the samples of a sweep must have one cause. */
#pragma once

#include "bench/bench.h"
#include "bench/mark.h"

/* The marks that benchmark.toml names under [phase]. */
enum phase_mark { PHASE_PERIOD = 1, PHASE_WOKEN = 2 };

/* Given by the handler, on each core its own. */
extern port_semaphore_t raised[BENCH_CORES];

/* Creates the kernel objects of the task's core and enables the interrupt there. Returns false if that fails. */
bool phase_prepare(struct bench_task *self);

/* Calls the chosen service, and the call that undoes it. Returns false if a call failed. */
bool phase_service(struct bench_task *self);
