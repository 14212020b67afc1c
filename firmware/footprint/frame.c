/* What the code below the frame (faults, kernel ports) calls when it gives up: an application would reset, this one
 * stops. */
#include "bench_core.h"

/* Stops the program for good. */
static noreturn void stop(void)
{
    for (;;) {
    }
}

/* Stops after a fault of the core. */
noreturn void last_words_fault(const struct fault_facts *facts)
{
    (void)facts;
    stop();
}

/* Stops after a failed assertion of the kernel. */
noreturn void last_words_assert(const char *file, uint32_t line)
{
    (void)file;
    (void)line;
    stop();
}

/* Stops after a stack overflow. */
noreturn void last_words_overflow(const char *task)
{
    (void)task;
    stop();
}

/* Stops after an error of the image's own code. */
noreturn void last_words_error(enum bench_error_code code, const char *detail)
{
    (void)code;
    (void)detail;
    stop();
}
