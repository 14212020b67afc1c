/* Core 1 of two kernels: core 0 has set the chip up. Its records wait until core 0 has sent its own. */
#include "bench/board.h"
#include "bench_amp.h"
#include "bench_fifo.h"

#define LINE_BYTES 8192u

static uint8_t bytes[LINE_BYTES];
static uint32_t used;
static bool is_open; /* the serial port is ours */

void __wrap_board_init(void);
void __real_board_serial_put(uint8_t byte);
void __wrap_board_serial_put(uint8_t byte);
void __real_board_serial_flush(void);
void __wrap_board_serial_flush(void);
bool __wrap_board_claim_last_word(void);

/* Does nothing: core 0 has started the board for both images. */
void __wrap_board_init(void)
{
}

/* Takes over the serial port: waits until core 0's image has ended, and then sends the bytes kept until now. */
static void open_port(void)
{
    while (AMP_SHARED->ended[AMP_OTHER_CORE] == 0) {
    }
    is_open = true;
    for (uint32_t at = 0; at < used; at++) {
        __real_board_serial_put(bytes[at]);
    }
}

/* Sends a byte, or keeps it as long as core 0 has the serial port. If the memory for kept bytes is full, it waits for
 * the port. That happens only after the windows, because an image sends little before. */
void __wrap_board_serial_put(uint8_t byte)
{
    if (!is_open && used < LINE_BYTES) {
        bytes[used++] = byte;
        return;
    }
    if (!is_open) {
        open_port();
    }
    __real_board_serial_put(byte);
}

/* Says that this image has ended, and waits until all its bytes are sent. Called once, after the last byte. */
void __wrap_board_serial_flush(void)
{
    AMP_SHARED->ended[AMP_CORE] = 1;
    if (!is_open) {
        open_port();
    }
    __real_board_serial_flush();
}

/* Claims the right to send the record that ends this image's run. Returns false if it is already claimed. The lock is
 * core 1's own: the failure of one image must not silence the other one. */
bool __wrap_board_claim_last_word(void)
{
    return CPU_REGISTER(SIO_SPINLOCK(AMP_SPINLOCKS_CORE1_LAST_WORD)) != 0;
}
