/* An STM32 board behind the board contract: start-up in order, the serial port, the last word. */
#include "bench/board.h"

#include "bench_family.h"
#include "bench_gpio.h"
#include "bench_pins.h"
#include "bench_timer.h"
#include "bench_uart.h"

/* Longest wait for room in the transmitter: a byte lasts 0.1 ms at 115200 baud, this some ten times that or more. */
#define SERIAL_POLL_LIMIT 1000000u

/* Starts the serial port over which the records are sent. */
static void start_serial(void)
{
    enable_clock(UART_ENABLE, UART_ENABLE_BIT);
    gpio_uart(BOARD_UART_TX_PIN_PORT, BOARD_UART_TX_PIN_NUMBER, BOARD_UART_RX_PIN_PORT, BOARD_UART_RX_PIN_NUMBER);
    REGISTER(UART_BASE + USART_CR1) = 0;
    REGISTER(UART_BASE + USART_BRR) = (UART_CLOCK_HZ + BOARD_UART_BAUD / 2u) / BOARD_UART_BAUD;
    REGISTER(UART_BASE + USART_CR1) = USART_CR1_ENABLE;
}

/* Starts clocks, caches, timer, serial port and pins of the board, in this order. */
void board_init(void)
{
    family_start_clocks();
    family_start_caches();
    timer_start();
    start_serial();
    pins_start();
}

/* Sends a byte, and waits for room in the transmitter before, but not for ever. */
void board_serial_put(uint8_t byte)
{
    uint32_t polls = 0;

    while ((REGISTER(UART_BASE + USART_STATUS) & USART_STATUS_TXE) == 0 && polls < SERIAL_POLL_LIMIT) {
        polls++;
    }
    REGISTER(UART_BASE + USART_TRANSMIT) = byte;
}

/* Waits until all bytes are sent, but not for ever. */
void board_serial_flush(void)
{
    uint32_t polls = 0;

    while ((REGISTER(UART_BASE + USART_STATUS) & USART_STATUS_TC) == 0 && polls < SERIAL_POLL_LIMIT) {
        polls++;
    }
}

/* Claims the right to send the record that ends the run. Returns false if it is already claimed. There is one core, and
 * whoever claims has masked interrupts, so no lock is needed. */
bool board_claim_last_word(void)
{
    static volatile bool claimed;
    bool first = !claimed;

    claimed = true;
    return first;
}
