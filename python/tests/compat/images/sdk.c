/* Start-up, clocks and the blocking console of the pico-sdk (1.x and 2.x order), register by register. */
#include "kit.h"

#define CLK_REF (CLOCKS + 0x30)
#define CLK_SYS (CLOCKS + 0x3c)
#define CLK_PERI (CLOCKS + 0x48)
#define CLK_USB (CLOCKS + 0x54)
#define CLK_ADC (CLOCKS + 0x60)
#define CLK_RTC (CLOCKS + 0x6c)
#define ALL_BLOCKS 0x01ffffffu
#define KEEP ((1u << 6) | (1u << 9) | (1u << 12) | (1u << 13) | (1u << 18) | (1u << 24))
#define LATE ((1u << 0) | (1u << 15) | (3u << 16) | (3u << 22) | (1u << 24))

static void release(uint32_t blocks) {
    CLR(RESETS) = blocks;
    while (~REG(RESETS + 8) & blocks) {
    }
}

static void configure(uint32_t clock, uint32_t src, uint32_t aux, uint32_t div, int glitchless, uint32_t delay) {
    if (div > REG(clock + 4)) {
        REG(clock + 4) = div;
    }
    if (glitchless && src == 1) {
        CLR(clock) = 3;
        while (!(REG(clock + 8) & 1)) {
        }
    } else {
        CLR(clock) = 1u << 11;
        for (volatile uint32_t n = delay; n; n--) {
        }
    }
    write_masked(clock, aux << 5, 0xe0);
    if (glitchless) {
        write_masked(clock, src, 3);
        while (!(REG(clock + 8) & (1u << src))) {
        }
    }
    SET(clock) = 1u << 11;
    REG(clock + 4) = div;
}

static void pll(uint32_t base, uint32_t block, uint32_t fbdiv, uint32_t prim) {
    if ((REG(base) & (1u << 31)) && REG(base + 8) == fbdiv && REG(base + 12) == prim) {
        return;
    }
    SET(RESETS) = 1u << block;
    release(1u << block);
    REG(base) = 1;
    REG(base + 8) = fbdiv;
    CLR(base + 4) = (1u << 0) | (1u << 5);
    wait_set(base, 1u << 31);
    REG(base + 12) = prim;
    CLR(base + 4) = 1u << 3;
}

void clocks_as_the_sdk_sets_them(void) {
    SET(RESETS) = ~KEEP;
    release(ALL_BLOCKS & ~LATE);
    if (REG(USB + 0x4c) == 0) {
        SET(USB + 0x4c) = 1u << 18; /* transceiver off; the block is still in reset */
    }
    REG(WATCHDOG + 0x2c) = 12 | 1u << 9;
    REG(CLOCKS + 0x78) = 0;
    REG(XOSC) = 0xaa0;
    REG(XOSC + 0x0c) = (12000 + 128) / 256;
    SET(XOSC) = 0xfabu << 12;
    wait_set(XOSC + 4, 1u << 31);
    CLR(CLK_SYS) = 1;
    while (REG(CLK_SYS + 8) != 1) {
    }
    CLR(CLK_REF) = 3;
    while (REG(CLK_REF + 8) != 1) {
    }
    pll(PLL_SYS, 12, 125, 6u << 16 | 2u << 12);
    pll(PLL_USB, 13, 100, 5u << 16 | 5u << 12);
    configure(CLK_REF, 2, 0, 1u << 8, 1, 2);
    configure(CLK_SYS, 1, 0, 1u << 8, 1, 2);
    configure(CLK_USB, 0, 0, 1u << 8, 0, 4);
    configure(CLK_ADC, 0, 0, 1u << 8, 0, 4);
    configure(CLK_RTC, 0, 0, 1024u << 8, 0, 4);
    configure(CLK_PERI, 0, 0, 1u << 8, 0, 2);
    release(ALL_BLOCKS);
    for (uint32_t pin = 26; pin < 30; pin++) {
        CLR(PADS_BANK0 + 4 + 4 * pin) = 1u << 6;
    }
    for (uint32_t lock = 0; lock < 32; lock++) {
        REG(SIO + 0x100 + 4 * lock) = 0;
    }
}

/* uart_init, then the pins. Changing the line format stops the UART and waits on TIMER, as SDK 2.x does. */
void uart_as_the_sdk_sets_it(void) {
    SET(RESETS) = 1u << 22;
    release(1u << 22);
    REG(UART_IBRD) = 67;
    REG(UART_FBRD) = 52;
    SET(UART_LCR_H) = 0;
    uint32_t cr = REG(UART_CR);
    if (cr & 1) {
        CLR(UART_CR) = (1u << 0) | (1u << 8) | (1u << 9);
        wait_us(200);
    }
    write_masked(UART_LCR_H, 3u << 5, 3u << 5 | 1u << 3 | 1u << 1 | 1u << 2);
    REG(UART_CR) = 1u << 0 | 1u << 8 | 1u << 9;
#ifndef NO_FIFO
    SET(UART_LCR_H) = 1u << 4;
#endif
    REG(UART_DMACR) = 3;
    for (uint32_t pin = 0; pin < 2; pin++) {
        write_masked(PADS_BANK0 + 4 + 4 * pin, 1u << 6, 1u << 6 | 1u << 7);
        REG(IO_BANK0 + 8 * pin + 4) = 2;
    }
}

uint32_t time_us(void) {
    return REG(TIMER + 0x28);
}

void wait_us(uint32_t us) {
    uint32_t start = time_us();
    while (time_us() - start < us) {
    }
}

void put_char(char c) {
    while (REG(UART_FR) & TXFF) {
    }
    REG(UART_DR) = (uint8_t)c;
}

void put_text(const char *text) {
    while (*text) {
        if (*text == '\n') {
            put_char('\r');
        }
        put_char(*text++);
    }
}

void put_hex(uint32_t value) {
    for (int shift = 28; shift >= 0; shift -= 4) {
        put_char("0123456789abcdef"[value >> shift & 15]);
    }
}

void put_number(uint32_t value) {
    static const uint32_t tens[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    int seen = 0;
    for (int n = 0; n < 10; n++) {
        char digit = '0';
        while (value >= tens[n]) {
            value -= tens[n];
            digit++;
        }
        if (digit != '0' || seen || n == 9) {
            seen = 1;
            put_char(digit);
        }
    }
}

void put_field(const char *name, uint32_t value) {
    put_text(name);
    put_char('=');
    put_number(value);
    put_text("\n");
}
