/* Core 0 of two kernels: it sets the chip up, starts core 1 in its own image, and leaves the serial port to it at the end. */
#include "bench/board.h"
#include "bench_amp.h"
#include "bench_core.h"
#include "bench_fifo.h"

#define PSM_FRCE_OFF 0x40010004u
#define PSM_PROC1 (1u << 16)

/* A core that never answers must end in a record, not in silence. */
#define ANSWER_POLL_LIMIT 1000000u
#define HANDSHAKE_LIMIT 96u

#define REGISTER_SET(address) CPU_REGISTER((address) + 0x2000u)
#define REGISTER_CLEAR(address) CPU_REGISTER((address) + 0x3000u)

void __real_board_init(void);
void __wrap_board_init(void);
void __real_board_serial_put(uint8_t byte);
void __wrap_board_serial_put(uint8_t byte);
void __real_board_serial_flush(void);
void __wrap_board_serial_flush(void);
bool __real_board_claim_last_word(void);
bool __wrap_board_claim_last_word(void);

/* Reads a word from the FIFO between the cores. Returns false if core 1 sends none for a million polls. */
static bool receive(uint32_t *word)
{
    for (uint32_t poll = 0; poll < ANSWER_POLL_LIMIT; poll++) {
        if (fifo_has_word()) {
            *word = CPU_REGISTER(SIO_FIFO_RD);
            return true;
        }
    }
    return false;
}

/* Starts core 1 by the boot ROM's handshake (RP2040 datasheet 2.8.2), and returns whether that succeeded. Core 1 echoes
 * each word; if the echo is another word, the handshake begins again with the first one. */
static bool launch(const uint32_t *words, uint32_t count)
{
    uint32_t at = 0;

    for (uint32_t sent = 0; at < count && sent < HANDSHAKE_LIMIT; sent++) {
        uint32_t echo;

        if (words[at] == 0) {
            fifo_drain();
            __asm volatile("sev");
        }
        CPU_REGISTER(SIO_FIFO_WR) = words[at];
        __asm volatile("sev");
        if (!receive(&echo)) {
            return false;
        }
        at = echo == words[at] ? at + 1u : 0u;
    }
    return at == count;
}

/* Resets core 1, and starts it in its own image. Ends the run with an error if core 1 does not answer. */
static void start_core1(void)
{
    /* Behind the boot block: its first stack pointer and its start, whichever memory its code runs from. */
    const uint32_t *vectors = (const uint32_t *)(AMP_CORE1_FLASH_START + 256u);
    const uint32_t words[] = {0, 0, 1, (uint32_t)vectors, vectors[0], vectors[1]};
    uint32_t greeting;

    REGISTER_SET(PSM_FRCE_OFF) = PSM_PROC1;
    while ((CPU_REGISTER(PSM_FRCE_OFF) & PSM_PROC1) == 0) {
    }
    fifo_drain();
    REGISTER_CLEAR(PSM_FRCE_OFF) = PSM_PROC1;
    if (!receive(&greeting) || greeting != 0) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not come out of reset");
    }
    if (!launch(words, sizeof words / sizeof words[0])) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not answer the launch handshake");
    }
}

/* Starts the board, clears the memory that both images share, and starts core 1. */
void __wrap_board_init(void)
{
    volatile uint32_t *page = (volatile uint32_t *)AMP_SHARED_START;

    __real_board_init();
    for (uint32_t word = 0; word < AMP_SHARED_BYTES / sizeof *page; word++) {
        page[word] = 0;
    }
    start_core1();
}

/* Sends a byte. Core 0 owns the serial port until its image ends. */
void __wrap_board_serial_put(uint8_t byte)
{
    __real_board_serial_put(byte);
}

/* Waits until all bytes are sent, and leaves the serial port to core 1. Called once, after the last byte. */
void __wrap_board_serial_flush(void)
{
    __real_board_serial_flush();
    AMP_SHARED->ended[AMP_CORE] = 1;
}

/* Claims the right to send the record that ends this image's run, as on a board with one image. */
bool __wrap_board_claim_last_word(void)
{
    return __real_board_claim_last_word();
}
