/* What the files of core/ and the code below it (cpus, kernel ports) share. Not for benchmarks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "bench/errors.h"
#include "bench_config.h"
#include "bench_wire.h"

/* From the linker script. */
extern char __ram_start[], __ram_end[];

/* last_words.c: records that end a run. Safe from any context, on any core, in any state of the kernel. */
struct fault_facts {
    const char *kind;
    uint32_t exception;
    uintptr_t pc, lr, psr, sp;
};

noreturn void last_words_fault(const struct fault_facts *facts);
noreturn void last_words_assert(const char *file, uint32_t line);
noreturn void last_words_overflow(const char *task);
noreturn void last_words_error(enum bench_error_code code, const char *detail);

/* Marks the end of every run, good or bad: the virtual board stops here. Called once. On silicon it returns, and
 * the core sleeps for good. */
void bench_done(void);
noreturn void end_of_run(void);

/* output.c: the ordinary records. */
extern struct wire output;
void output_send(const char *line, size_t length);
void output_end(void);    /* completes the record begun on `output` */
void output_silence(void); /* from now on ordinary records wait for ever: a last word is being said */

/* main.c: the frame. */
noreturn void run_finish(void); /* the end record, and the end */

/* Runs the image's program: a benchmark (run/), or the conformance suite. */
noreturn void run_program(void);
