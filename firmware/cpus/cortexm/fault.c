/* Turns the exception frame of a fatal exception into a `fault` record. */
#include <stdnoreturn.h>

#include "bench_core.h"
#include "bench_cpu.h"

/* EXC_RETURN bit 4, ones where there is no floating-point unit: 0 if the frame has its registers behind the others. */
#define EXC_RETURN_BASIC_FRAME (1u << 4)
#define BASIC_FRAME_WORDS 8u
#define EXTENDED_FRAME_WORDS 26u

/* Called from fault.S on the core's fault stack, interrupts off. */
noreturn void cpu_report_fault(uint32_t exc_return, const uint32_t *frame, uint32_t exception);

/* Returns whether an exception frame lies in RAM and is aligned. Reading a frame through a wrong stack pointer would
 * fault inside the fault handler: the core would lock up, and nothing would be sent. */
static bool frame_is_readable(const uint32_t *frame)
{
    uintptr_t address = (uintptr_t)frame;
    uintptr_t end = (uintptr_t)__ram_end;

    return (address & 3u) == 0 && address >= (uintptr_t)__ram_start && address <= end - BASIC_FRAME_WORDS * sizeof(uint32_t);
}

/* Ends the run with a record of the fault: registers from the frame if it is readable, or else what the core knows
 * without it. `exc_return` is the handler's LR, and `exception` the exception's number. */
noreturn void cpu_report_fault(uint32_t exc_return, const uint32_t *frame, uint32_t exception)
{
    uint32_t frame_words = (exc_return & EXC_RETURN_BASIC_FRAME) != 0 ? BASIC_FRAME_WORDS : EXTENDED_FRAME_WORDS;
    struct fault_facts facts = {
        .kind = exception == CPU_EXCEPTION_NMI ? "nmi" : exception == CPU_EXCEPTION_HARDFAULT ? "hardfault" : "unexpected",
        .exception = exception,
        .lr = exc_return,
        .sp = (uintptr_t)frame,
    };

    if (frame_is_readable(frame)) {
        facts.lr = frame[5];
        facts.pc = frame[6];
        facts.psr = frame[7];
        facts.sp = (uintptr_t)frame + frame_words * sizeof(uint32_t) + (((frame[7] >> 9) & 1u) * 4u);
    }
    last_words_fault(&facts);
}
