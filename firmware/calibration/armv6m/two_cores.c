/* The RP2040's cores in one memory: core 0 reads a bank alone, and while core 1 reads it as fast as it can (data sheet 2.1.1,
 * 2.8.2). Core 1's code lies in the bank that would be its stack's, so that both meet in the one that is read. It waits for
 * its next turn at the single-cycle port and disturbs nobody; this is the last row all the same. */
#include "bench_body.h"
#include "bench_rows.h"

#if BENCH_PARAM_XIP_CONTROL

#define SIO_FIFO_ST CPU_REGISTER(0xD0000050u)
#define SIO_FIFO_WR CPU_REGISTER(0xD0000054u)
#define SIO_FIFO_RD CPU_REGISTER(0xD0000058u)
#define FIFO_VALID 1u
#define FIFO_READY 2u
#define ONE_BANK 0x21000000u /* SRAM0 where it is not striped */
#define STACK_BYTES 4096u
#define CODE_BYTES 64u

extern uint8_t __core1_stack_top[];
void core1_program(void);

/* Reads, for each word that comes in the FIFO, 60 times four words of the bank. It is position-independent, because
 * core 1 executes a copy of it. */
void __attribute__((naked, aligned(4))) core1_program(void)
{
    __asm volatile(UNIFIED "ldr r1, 1f\n\tldr r2, 2f\n"
                   "3:\tldr r0, [r1, #0x50]\n\tlsrs r0, r0, #1\n\tbcc 3b\n\tldr r0, [r1, #0x58]\n\tmovs r0, #60\n"
                   "4:\tmov r7, r2\n\tldmia r7!, {r3, r4, r5, r6}\n\tsubs r0, #1\n\tbne 4b\n\tb 3b\n\t"
                   ".balign 4\n1:\t.word 0xD0000000\n2:\t.word 0x21000000");
}

/* Sends a word to core 1 through the FIFO. */
static void send(uint32_t word)
{
    while ((SIO_FIFO_ST & FIFO_READY) == 0) {
    }
    SIO_FIFO_WR = word;
    __asm volatile("sev");
}

/* Waits for a word from core 1 and returns it. */
static uint32_t answer(void)
{
    while ((SIO_FIFO_ST & FIFO_VALID) == 0) {
    }
    return SIO_FIFO_RD;
}

/* Starts core 1 with a copy of its program by the boot ROM's handshake: core 1 answers each word with the same word,
 * and begins anew after a wrong one. */
static void launch(void)
{
    uintptr_t top = (uintptr_t)__core1_stack_top, bank = top - STACK_BYTES;
    uint32_t *code = (uint32_t *)bank;
    const uint32_t *from = (const uint32_t *)((uintptr_t)core1_program & ~(uintptr_t)1u);
    const uint32_t words[] = {0, 0, 1, CPU_SCB_VTOR, top, bank | 1u};

    __asm volatile("" : "+r"(code)); /* the compiler takes it for a place outside an array */
    for (unsigned i = 0; i < CODE_BYTES / 4u; i++) {
        code[i] = from[i];
    }
    for (unsigned sent = 0; sent < sizeof words / sizeof words[0]; sent++) {
        while (words[sent] == 0 && (SIO_FIFO_ST & FIFO_VALID) != 0) {
            (void)SIO_FIFO_RD;
        }
        send(words[sent]);
        if (answer() != words[sent]) {
            sent = (unsigned)-1; /* from the first word */
        }
    }
}

/* Reads words of one bank of SRAM. Returns the cycles. */
static uint32_t __attribute__((noinline)) read_bank(void)
{
    uint32_t cycles;

    MEASURED(cycles, "", TIMES(32, "mov r0, %3\n\tldmia r0!, {r1, r2}"), ONE_BANK);
    return cycles;
}

/* Measures row `two_cores`: cycles of core 0's reads from a bank of SRAM, alone and while core 1 reads it. */
void row_two_cores(uint32_t *values)
{
    static bool running;

    if (!running) {
        launch();
        running = true;
    }
    for (unsigned i = 0; i < 100; i++) { /* until core 1 is through with its last turn */
        (void)SIO_FIFO_ST;
    }
    values[0] = read_bank();
    SIO_FIFO_WR = 0;
    for (unsigned i = 0; i < 4; i++) {
        (void)SIO_FIFO_ST;
    }
    values[1] = read_bank();
    for (unsigned i = 0; i < 100; i++) {
        (void)SIO_FIFO_ST;
    }
}

#endif
