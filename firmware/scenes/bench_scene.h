/* A planted fault of a concurrent program, small enough to be seen whole in a timeline. scenes/<name>/ holds one; no
 * benchmark: nothing is measured, and it says nothing on the serial port. The frame is footprint/frame.c. */
#pragma once

#include "bench/board.h"
#include "bench/port.h"
#include "bench_config.h"
#include "bench_core.h"

/* Computes for so many rounds of a few cycles each. The time is not exact: only the order of magnitude matters. */
static inline void work(uint32_t rounds)
{
    for (volatile uint32_t round = 0; round < rounds; round++) {
    }
}

/* Creates a task with the image's stack size, or ends the run with an error. */
static inline void make_task(port_task_t *task, const char *name, void (*entry)(void *), uint8_t priority)
{
    struct port_task_request request = {
        .name = name, .entry = entry, .argument = NULL, .stack_bytes = BENCH_STACK_BYTES, .priority = priority};

    if (!port_task_create(task, &request)) {
        last_words_error(ERROR_PREPARE, name);
    }
}
