/* What the files of this folder share: the run of a benchmark, with tasks or without. */
#pragma once

#include "bench/bench.h"
#include "bench_core.h"

/* The window is agreed by tick, so it is a whole number of them: a slow tick needs a longer window or warm-up. Demanded
 * where the time is waited for, so that no other file is compiled again for another window. */
#define TICKS_OF_MS(ms) ((uint32_t)((uint64_t)(ms) * PORT_TICK_HZ / 1000u))
#define DEMAND_A_TICK(ms) _Static_assert(TICKS_OF_MS(ms) >= 1, "WINDOW_MS and WARMUP_MS must last one tick or longer")

/* bench.c: records. The control task's index follows those of the tasks. */
struct task_facts {
    const char *name;
    uintptr_t address; /* of the kernel's control block; 0: there is none */
    uint32_t stack_bytes;
    unsigned core, index, priority;
};

void report_task(const struct task_facts *task);
void report_checks(void);
void report_heap(void);

/* window.c */
struct window_edges {
    uint64_t open_ticks, close_ticks;
};

extern struct window_edges window_edges;
extern volatile uint32_t bench_window_state; /* see window.c */
void window_open(void);
void window_close(void);
void window_report(void);

/* What differs by the benchmark's kind, counts/ or latency/: the window lasts its time, or until the samples are taken. */
void measure_prepare(void); /* before the rulers and the kernel's start */
void measure_opened(void);  /* the window has just opened */
void measure_report(void);

/* The same, with tasks: counts/tasks/ or latency/tasks/. */
void measure_make_wait(void);  /* before the kernel starts */
void measure_wait(void);       /* by the control task: until the window is over */
void measure_body_ended(void); /* by a task whose body has returned in the window */

/* ruler.c */
void ruler_measure(unsigned core);
void ruler_report(void);
