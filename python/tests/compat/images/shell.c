/* A line shell on UART0, interrupt-driven in the manner of one driver or another:
 *   SDK      FIFO on, receive interrupt at the lowest level and timeout, transmit by polling;
 *   NUTTX    IFLS 0, handler acknowledges everything first, transmit buffer primed by hand and refilled by interrupt;
 *   ZEPHYR   FIFO off, a NUL primes the transmit interrupt, each interrupt sends one character;
 *   EMBASSY  transmit buffer filled by an interrupt that software pends when the FIFO was idle. */
#include "kit.h"

static volatile char rx[256], tx[1024];
static volatile uint32_t rx_in, rx_out, tx_in, tx_out, interrupts;

__attribute__((unused)) static int tx_empty(void) {
    return tx_in == tx_out;
}

__attribute__((unused)) static void tx_fill(void) {
    while (!tx_empty() && !(REG(UART_FR) & TXFF)) {
        REG(UART_DR) = (uint8_t)tx[tx_out++ % 1024];
    }
}

static void rx_take(void) {
    while (!(REG(UART_FR) & RXFE)) {
        rx[rx_in++ % 256] = (char)REG(UART_DR);
    }
}

void irq_uart0(void) {
    interrupts++;
#if defined(SDK)
    rx_take();
#elif defined(NUTTX)
    for (int pass = 0; pass < 256; pass++) {
        uint32_t status = REG(UART_MIS);
        if (!status) {
            return;
        }
        REG(UART_ICR) = status;
        if (status & (INT_RX | INT_RT)) {
            rx_take();
        }
        if (status & INT_TX) {
            tx_fill();
            if (tx_empty()) {
                REG(UART_IMSC) &= ~INT_TX;
            }
        }
    }
#elif defined(ZEPHYR)
    if (REG(UART_MIS) & (INT_RX | INT_RT)) {
        rx_take();
    }
    if (REG(UART_MIS) & INT_TX) {
        if (tx_empty()) {
            REG(UART_IMSC) &= ~INT_TX;
        } else {
            REG(UART_DR) = (uint8_t)tx[tx_out++ % 1024];
        }
    }
#else
    uint32_t status = REG(UART_RIS);
    REG(UART_ICR) = status;
    rx_take();
    tx_fill();
#endif
}

static void send(char c) {
#if defined(SDK)
    put_char(c);
#else
    while (tx_in - tx_out == 1024) {
    }
    tx[tx_in % 1024] = c;
    tx_in++;
#endif
}

static void flush(void) {
#if defined(NUTTX)
    irq_off();
    REG(UART_IMSC) |= INT_TX;
    tx_fill();
    irq_on();
#elif defined(ZEPHYR)
    REG(UART_IMSC) |= INT_TX;
    REG(UART_IFLS) &= ~7u;
#elif defined(EMBASSY)
    REG(NVIC_ISPR) = 1u << IRQ_UART0;
#endif
}

static void say(const char *text) {
    while (*text) {
        send(*text++);
    }
}

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
#if defined(NUTTX) || defined(ZEPHYR)
    wait_us(1000); /* the early console, which the driver replaces */
#endif
#if defined(SDK)
    REG(UART_IMSC) = INT_RX | INT_RT;
    write_masked(UART_IFLS, 0, 7u << 3);
#elif defined(NUTTX)
    REG(UART_CR) = 0;
    REG(UART_LCR_H) = 0;
    REG(UART_DMACR) = 0;
    REG(UART0 + 4) = 0xf;
    REG(UART_IBRD) = 67;
    REG(UART_FBRD) = 52;
    REG(UART_LCR_H) = REG(UART_LCR_H);
    REG(UART_LCR_H) |= 3u << 5;
    REG(UART_CR) = 1u << 11;
    REG(UART_IFLS) = 0;
    REG(UART_ICR) = 0x7ff;
    REG(UART_LCR_H) |= 1u << 4;
    REG(UART_CR) |= 1u << 8 | 1u << 9 | 1u << 0;
    REG(UART_IMSC) = INT_RX | INT_RT;
#elif defined(ZEPHYR)
    CLR(UART_LCR_H) = 1u << 4;
    REG(UART_DR) = 0;
    REG(UART_IMSC) |= INT_RX;
    REG(UART_IFLS) &= ~(7u << 3);
#else
    REG(UART_IFLS) = 2u << 3 | 2u;
    REG(UART_IMSC) = INT_RX | INT_RT | INT_TX;
#endif
    REG(NVIC_ISER) = 1u << IRQ_UART0;
    for (int n = 0; n < 5; n++) {
        say("a line that is longer than the FIFO of the UART\r\n");
    }
    say("$ ");
    flush();
    for (;;) {
        irq_off();
        if (rx_in == rx_out) {
            wfi();
        }
        irq_on();
        while (rx_in != rx_out) {
            char c = rx[rx_out++ % 256];
            if (c == '\r') {
                say("\r\nok\r\n$ ");
            } else {
                send(c);
            }
            flush();
        }
    }
}
