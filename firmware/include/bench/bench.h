/* What a benchmark gives, and what it may use.
 *
 * A benchmark is one C file that defines `bench_program`, and a benchmark.toml that names it. It knows no kernel and no
 * board: it uses the port_ functions of the services its TOML lists, and this header.
 *
 * How a run goes, for every task of every core:
 *     prepare(task)                  once, on the task's own core: make objects, enable interrupts
 *     gate                           until all tasks and the control task are here
 *     body(task)                     warm-up; returns soon after bench_running() turns false
 *     gate
 *     body(task)                     the measured window, the same code
 *     report(core)                   by the control task, when all bodies have returned: check records
 * Without a kernel the only task is a call from main, there is no gate, and the tick's handler ends warm-up and window.
 * body() runs twice on the same objects, so it MUST leave them as it found them (empty queue, free semaphore, no
 * pending notification), or the window would start in another state than the warm-up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "bench_config.h"
#include "bench/board.h"
#include "bench/errors.h"
#include "bench/port.h"

/* One per task, in one plain array. `count` comes first: incrementing it is ldr, adds, str (5 cycles on an M0+ from
 * SRAM), and that is the whole cost of counting. 32 bits: 30 s at one count per 7 cycles still fits. */
struct bench_task {
    volatile uint32_t count;
    uint32_t failures; /* the body's own refusals; reported as check `failures` */
#if KERNEL_SERVICES_TASKS
    port_task_t handle;
#endif
    uint8_t core; /* whose tasks it counts among; it runs there, unless BENCH_ANY_CORE is 1 */
    uint8_t index;
    uint8_t priority;
};

struct bench_program {
    /* Abstract priority of task `index`: a higher number is more urgent, 0 the least, BENCH_PRIORITY_MAX the most. */
    uint8_t priority[BENCH_TASKS_PER_CORE];
    bool (*prepare)(struct bench_task *self); /* false: set-up failed, the run ends with an error record */
    void (*body)(struct bench_task *self);
    void (*release)(unsigned core); /* optional; by the control task once the bodies may run, to start a chain */
    void (*report)(unsigned core);  /* optional */
};

extern const struct bench_program bench_program;

/* The most urgent priority that a benchmark may use. The control task has the next higher one. */
#define BENCH_PRIORITY_MAX (PORT_PRIORITY_MAX - 1)

/* 1 while bodies shall run. Only the control task writes it. Reading it is ldr of the address, ldr, cmp, branch. */
extern volatile uint32_t bench_run;

/* Returns whether the tasks' bodies shall continue. The control task ends a phase by bench_run = 0. */
static inline bool bench_running(void)
{
    return bench_run != 0;
}

/* Adds one to the number of passes through its loop that this benchmark task has completed. */
static inline void bench_count(struct bench_task *self)
{
    self->count = self->count + 1u;
}

#if KERNEL_SERVICES_HEAP
/* Returns whether a block is aligned as the port promises for its heap. */
static inline bool bench_block_is_aligned(const volatile void *block)
{
    return ((uintptr_t)block & (PORT_HEAP_ALIGN_BYTES - 1u)) == 0;
}
#endif

/* Returns the task with this index among the tasks of a core. */
struct bench_task *bench_task(unsigned core, unsigned index);

/* Returns how often a task has counted inside the measured window. For report() only. */
uint32_t bench_window_count(unsigned core, unsigned index);

/* Sends one check record; for report() only. */
void bench_check(const char *name, unsigned core, uint32_t value);

/* Sends an error record and ends the run. */
noreturn void bench_error(enum bench_error_code code, const char *detail);
