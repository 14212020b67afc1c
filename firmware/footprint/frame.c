/* What the code below the frame (faults, kernel ports) calls when it gives up: an application would reset, this one
 * stops. */
#include "bench_core.h"

static noreturn void stop(void)
{
    for (;;) {
    }
}

noreturn void last_words_fault(const struct fault_facts *facts)
{
    (void)facts;
    stop();
}

noreturn void last_words_assert(const char *file, uint32_t line)
{
    (void)file;
    (void)line;
    stop();
}

noreturn void last_words_overflow(const char *task)
{
    (void)task;
    stop();
}

noreturn void last_words_error(enum bench_error_code code, const char *detail)
{
    (void)code;
    (void)detail;
    stop();
}
