/* The second core of the RP2040, for the kernel's SMP port. */
#include "FreeRTOS.h"
#include "task.h"

#include "bench/board.h"
#include "bench_core.h"
#include "pico/multicore.h"

extern char __core1_stack_top[];

#define PSM_FRCE_OFF_SET CPU_REGISTER(0x40010004u + 0x2000u)
#define PSM_FRCE_OFF_CLEAR CPU_REGISTER(0x40010004u + 0x3000u)
#define PSM_FRCE_OFF CPU_REGISTER(0x40010004u)
#define PSM_PROC1 (1u << 16)

#define FIFO_VALID 1u
#define FIFO_READY 2u

/* A core that never answers (a board or a virtual board with one) must end in a record, not in silence. */
#define ANSWER_POLL_LIMIT 1000000u
#define HANDSHAKE_LIMIT 16u

/* Handles the other core's request to choose a task anew. */
void prvFIFOInterruptHandler(void)
{
    multicore_fifo_drain();
    multicore_fifo_clear_irq();
    portYIELD_FROM_ISR(pdTRUE);
}

/* Line 15 is core 0's, 16 core 1's; the table is the same for both. */
void isr_irq15(void) __attribute__((alias("prvFIFOInterruptHandler")));
void isr_irq16(void) __attribute__((alias("prvFIFOInterruptHandler")));

/* Sets the priority of an interrupt line of this core. */
void irq_set_priority(uint32_t line, uint8_t priority)
{
    unsigned shift = 8u * (line & 3u);

    CPU_NVIC_IPR(line >> 2) = (CPU_NVIC_IPR(line >> 2) & ~(0xFFu << shift)) | ((uint32_t)priority << shift);
}

/* Enables or disables an interrupt line of this core. */
void irq_set_enabled(uint32_t line, bool enabled)
{
    if (enabled) {
        CPU_NVIC_ICPR(0) = 1u << line;
        CPU_NVIC_ISER(0) = 1u << line;
    } else {
        CPU_NVIC_ICER(0) = 1u << line;
    }
}

/* Checks that the vector table, which is constant, has this handler for an interrupt line. */
void irq_set_exclusive_handler(uint32_t line, irq_handler_t handler)
{
    const uintptr_t *vectors = (const uintptr_t *)CPU_SCB_VTOR;

    if (vectors[16u + line] != (uintptr_t)handler) {
        last_words_error(ERROR_VECTOR, "an interrupt handler is not the one in the vector table");
    }
}

/* Reads a word from the other core. Returns false if there is none. */
static bool receive(uint32_t *word)
{
    for (uint32_t poll = 0; poll < ANSWER_POLL_LIMIT; poll++) {
        if ((sio_hw->fifo_st & FIFO_VALID) != 0) {
            *word = sio_hw->fifo_rd;
            return true;
        }
    }
    return false;
}

/* Sends a word to the other core, and wakes it. */
static void send(uint32_t word)
{
    /* Eight words deep and drained by the handshake itself: there is room. */
    sio_hw->fifo_wr = word;
    __asm volatile("sev");
}

/* Resets core 1, and waits until its boot ROM is ready. */
void multicore_reset_core1(void)
{
    uint32_t word;

    PSM_FRCE_OFF_SET = PSM_PROC1;
    while ((PSM_FRCE_OFF & PSM_PROC1) == 0) {
    }
    multicore_fifo_drain();
    PSM_FRCE_OFF_CLEAR = PSM_PROC1;
    /* The boot ROM greets with a 0 when core 1 is ready to listen. */
    if (!receive(&word) || word != 0) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not come out of reset");
    }
}

/* Starts core 1 at `entry`, by the boot ROM's handshake. */
void multicore_launch_core1(void (*entry)(void))
{
    const uint32_t words[] = {0, 0, 1, CPU_SCB_VTOR, (uint32_t)__core1_stack_top, (uint32_t)entry};
    const size_t count = sizeof words / sizeof words[0];
    size_t at = 0;

    /* Core 1 echoes each word; an echo that does not fit means it has started over, so do we. */
    for (uint32_t sent = 0; at < count && sent < count * HANDSHAKE_LIMIT; sent++) {
        uint32_t echo;

        if (words[at] == 0) {
            multicore_fifo_drain();
            __asm volatile("sev");
        }
        send(words[at]);
        if (!receive(&echo)) {
            break;
        }
        at = echo == words[at] ? at + 1 : 0;
    }
    if (at < count) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not answer the launch handshake");
    }
}
