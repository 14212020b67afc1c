/* The rest of a board as start-up code meets it: flash by ROM functions and by raw commands, the cache as SRAM, ADC,
 * random bits, supply voltage, MPU, USB with no host, DMA into the UART, oscillator set-up and the frequency counter. */
#include "kit.h"

typedef void (*flash_fn)();

static uint32_t boot2[64];

static uint32_t rom(char a, char b) {
    uint32_t (*lookup)(uint32_t, uint32_t) = (void *)(uint32_t) * (volatile uint16_t *)0x18;
    return lookup(*(volatile uint16_t *)0x14, (uint32_t)(uint8_t)b << 8 | (uint8_t)a);
}

IN_RAM static void change_flash(flash_fn connect, flash_fn leave, flash_fn act, flash_fn flush, uint32_t data) {
    connect();
    leave();
    if (data) {
        act(0x100000, data, 256);
    } else {
        act(0x100000, 4096, 65536, 0xd8);
    }
    flush();
    ((void (*)(void))((uint32_t)boot2 | 1))();
}

IN_RAM static void command(flash_fn connect, flash_fn leave, flash_fn flush, const uint8_t *out, uint8_t *in, uint32_t count) {
    connect();
    leave();
    XOR(IO_QSPI + 0x0c) = (REG(IO_QSPI + 0x0c) ^ 2u << 8) & 3u << 8;
    uint32_t to_send = count, to_take = count;
    while (to_send || to_take) {
        uint32_t flags = REG(SSI + 0x28);
        if (flags & 2 && to_send && to_take - to_send < 14) {
            REG(SSI + 0x60) = *out++;
            to_send--;
        }
        if (flags & 8 && to_take) {
            *in++ = (uint8_t)REG(SSI + 0x60);
            to_take--;
        }
    }
    XOR(IO_QSPI + 0x0c) = (REG(IO_QSPI + 0x0c) ^ 3u << 8) & 3u << 8;
    flush();
    ((void (*)(void))((uint32_t)boot2 | 1))();
}

static void flash(void) {
    flash_fn connect = (flash_fn)rom('I', 'F'), leave = (flash_fn)rom('E', 'X'), flush = (flash_fn)rom('F', 'C');
    for (int n = 0; n < 64; n++) {
        boot2[n] = REG(0x10000000 + 4 * n);
    }
    static uint8_t page[256];
    for (int n = 0; n < 256; n++) {
        page[n] = (uint8_t)(255 - n);
    }
    put_field("blank", REG(0x10100000) == 0xffffffff);
    change_flash(connect, leave, (flash_fn)rom('R', 'P'), flush, (uint32_t)page);
    put_field("programmed", REG(0x10100000) == 0xfcfdfeff && REG(0x101000fc) == 0x00010203);
    change_flash(connect, leave, (flash_fn)rom('R', 'E'), flush, 0);
    put_field("erased", REG(0x10100000) == 0xffffffff);
    static const uint8_t out[13] = {0x4b};
    uint8_t in[13];
    command(connect, leave, flush, out, in, 13);
    put_text("id=");
    put_hex((uint32_t)in[5] << 24 | in[6] << 16 | in[7] << 8 | in[8]);
    put_text("\n");
}

static IN_RAM uint32_t cache_as_sram(void) {
    REG(XIP_CTRL) &= ~1u;
    REG(0x15000000) = 0x12345678;
    REG(0x15003ffc) = 0x9abcdef0;
    *(volatile uint8_t *)0x15000001 = 0;
    uint32_t sum = REG(0x15000000) + REG(0x15003ffc);
    REG(XIP_CTRL + 4) = 1;
    (void)REG(XIP_CTRL + 4);
    REG(XIP_CTRL) |= 1;
    return sum;
}

static void usb_without_a_host(void) {
    SET(RESETS) = 1u << 24;
    CLR(RESETS) = 1u << 24;
    wait_set(RESETS + 8, 1u << 24);
    for (uint32_t n = 0; n < 4096; n++) {
        *(volatile uint8_t *)(USB_DPRAM + n) = 0;
    }
    *(volatile uint8_t *)(USB_DPRAM + 0x101) = 0x5a;
    put_field("dpram", REG(USB_DPRAM + 0x100) == 0x5a00);
    REG(USB + 0x74) = 1u << 0 | 1u << 3;
    REG(USB + 0x78) = 1u << 2 | 1u << 3;
    REG(USB + 0x40) = 1;
    REG(USB + 0x4c) = 1u << 29;
    REG(USB + 0x90) = 1u << 4 | 1u << 12 | 1u << 16;
    SET(USB + 0x4c) = 1u << 16;
    REG(NVIC_ISER) = 1u << IRQ_USB;
    put_field("connected", REG(USB + 0x50) >> 16 & 1);
}

static void dma_to_the_uart(void) {
    static const char text[] = "dma=sent by channel 0\r\n";
    REG(DMA) = (uint32_t)text;
    REG(DMA + 4) = UART_DR;
    REG(DMA + 8) = sizeof text - 1;
    REG(DMA + 0x0c) = 1u << 0 | 1u << 4 | 20u << 15;
    while (REG(DMA + 0x0c) & 1u << 24) {
    }
}

static uint32_t frequency_khz(uint32_t source) {
    while (REG(CLOCKS + 0x98) & 1u << 8) {
    }
    REG(CLOCKS + 0x80) = 12000;
    REG(CLOCKS + 0x90) = 10;
    REG(CLOCKS + 0x84) = 0;
    REG(CLOCKS + 0x88) = 0xffffffff;
    REG(CLOCKS + 0x94) = source;
    while (!(REG(CLOCKS + 0x98) & 1u << 4)) {
    }
    return REG(CLOCKS + 0x9c) >> 5;
}

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    flash();
    put_field("cache", cache_as_sram() == 0x12340078u + 0x9abcdef0u);
    REG(ADC) = 1;
    wait_set(ADC, 1u << 8);
    REG(ADC) |= 1u << 1 | 4u << 12;
    SET(ADC) = 1u << 2;
    wait_set(ADC, 1u << 8);
    put_field("temperature", REG(ADC + 4) > 800 && REG(ADC + 4) < 950);
    uint32_t random = 0;
    for (int n = 0; n < 32; n++) {
        random = random << 1 | (REG(ROSC + 0x1c) & 1);
    }
    put_field("random", random != 0 && random != 0xffffffff);
    REG(ROSC + 0x14) = 0xaa0;
    REG(ROSC) = 0xfabaa0;
    REG(ROSC + 0x10) = 0xaa1;
    REG(ROSC + 4) = 0x96960000;
    put_field("badwrite", REG(ROSC + 0x18) >> 24 & 1);
    write_masked(VREG, 12u << 4, 15u << 4);
    wait_set(VREG, 1u << 12);
    put_field("sys_khz", frequency_khz(9));
    put_field("usb_khz", frequency_khz(11));
    put_field("sio_byte", *(volatile uint8_t *)SIO);
    usb_without_a_host();
    dma_to_the_uart();
    REG(0xe000ed94) = 5;
    REG(0xe000ed9c) = 0x20000018;
    REG(0xe000eda0) = 0x1000fe0f;
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
