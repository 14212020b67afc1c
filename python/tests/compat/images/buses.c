/* Masters as drivers use them: an EEPROM and a sensor on I2C0, a loop-back on SPI0, the ADC, a loop-back on UART1. */
#include "kit.h"

#define I2C0 0x40044000u
#define SPI0 0x4003c000u
#define UART1 0x40038000u
#define EEPROM 0x50
#define SENSOR 0x48
#define NOBODY 0x33
#define READ (1u << 8)
#define STOP (1u << 9)
#define RESTART (1u << 10)

static void i2c_as_the_sdk_sets_it(uint32_t baud) {
    REG(I2C0 + 0x6c) = 0;
    REG(I2C0) = 1u | 2u << 1 | 1u << 5 | 1u << 6 | 1u << 8;
    REG(I2C0 + 0x38) = 0;
    REG(I2C0 + 0x3c) = 0;
    uint32_t period = (125000000u + baud / 2) / baud;
    uint32_t low = period * 3 / 5;
    REG(I2C0 + 0x1c) = period - low;
    REG(I2C0 + 0x20) = low;
    REG(I2C0 + 0xa0) = low < 16 ? 1 : low / 16;
    REG(I2C0 + 0x6c) = 1;
}

static void i2c_target(uint32_t address) {
    REG(I2C0 + 0x6c) = 0;
    REG(I2C0 + 4) = address;
    REG(I2C0 + 0x6c) = 1;
}

/* Bytes sent, or -1 if nobody answers. */
static int i2c_write(uint32_t address, const uint8_t *data, int count, int stops) {
    i2c_target(address);
    for (int n = 0; n < count; n++) {
        REG(I2C0 + 0x10) = data[n] | (stops && n == count - 1 ? STOP : 0);
        wait_set(I2C0 + 0x34, 1u << 4);
        if (REG(I2C0 + 0x80)) {
            (void)REG(I2C0 + 0x54);
            wait_set(I2C0 + 0x34, 1u << 9);
            (void)REG(I2C0 + 0x60);
            return -1;
        }
        if (stops && n == count - 1) {
            wait_set(I2C0 + 0x34, 1u << 9);
            (void)REG(I2C0 + 0x60);
        }
    }
    return count;
}

/* After a write without STOP: a repeated START, and bytes. */
static void i2c_read_on(uint8_t *data, int count) {
    for (int n = 0; n < count; n++) {
        REG(I2C0 + 0x10) = READ | (n == 0 ? RESTART : 0) | (n == count - 1 ? STOP : 0);
        while (!REG(I2C0 + 0x78)) {
        }
        data[n] = REG(I2C0 + 0x10);
    }
    wait_set(I2C0 + 0x34, 1u << 9);
    (void)REG(I2C0 + 0x60);
}

static void use_i2c(void) {
    i2c_as_the_sdk_sets_it(400000);
    static const uint8_t page[] = {0x01, 0x00, 'h', 'e', 'l', 'l', 'o'};
    uint8_t back[5];
    put_field("nobody", i2c_write(NOBODY, page, 1, 1) == -1);
    uint32_t begin = time_us();
    put_field("written", i2c_write(EEPROM, page, sizeof page, 1));
    put_field("write_us", time_us() - begin);
    int polls = 0;
    begin = time_us();
    while (i2c_write(EEPROM, page, 2, 1) < 0) {
        polls++;
    }
    put_field("stored_ms", (time_us() - begin + 500) / 1000);
    put_field("polled", polls > 50);
    i2c_write(EEPROM, page, 2, 0);
    i2c_read_on(back, sizeof back);
    put_text("read=");
    for (unsigned n = 0; n < sizeof back; n++) {
        put_char((char)back[n]);
    }
    put_text("\n");
    i2c_write(SENSOR, page + 1, 1, 0);
    i2c_read_on(back, 2);
    put_field("eighths", (uint32_t)(back[0] << 8 | back[1]) >> 5);
}

static void use_spi(void) {
    /* 1 MHz, mode 0, eight bits. GP17 selects. */
    REG(SPI0 + 0x10) = 2;
    REG(SPI0) = 62u << 8 | 7;
    REG(SPI0 + 4) = 2;
    REG(IO_BANK0 + 8 * 17 + 4) = 5;
    REG(SIO + 0x24) = 1u << 17;
    REG(SIO + 0x14) = 1u << 17;
    uint32_t sum = 0;
    for (int selected = 0; selected < 2; selected++) {
        REG(SIO + (selected ? 0x18 : 0x14)) = 1u << 17;
        uint32_t begin = time_us();
        for (uint32_t n = 1; n <= 20; n++) {
            while (!(REG(SPI0 + 0x0c) & 2)) {
            }
            REG(SPI0 + 8) = n;
            while (!(REG(SPI0 + 0x0c) & 4)) {
            }
            sum += REG(SPI0 + 8);
        }
        put_field(selected ? "selected_us" : "alone_us", (time_us() - begin + 5) / 10);
        put_field(selected ? "selected" : "alone", sum);
    }
}

static void use_adc(void) {
    REG(ADC) = 1;
    wait_set(ADC, 1u << 8);
    uint32_t begin = time_us();
    for (uint32_t n = 0; n < 50; n++) {
        REG(ADC) = 1u | 1u << 12 | 1u << 2;
        wait_set(ADC, 1u << 8);
    }
    put_field("conversions_us", (time_us() - begin + 5) / 10);
    put_field("volts", REG(ADC + 4));
}

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    CLR(RESETS) = 1u << 0 | 1u << 3 | 1u << 16 | 1u << 23;
    while (~REG(RESETS + 8) & (1u << 0 | 1u << 3 | 1u << 16 | 1u << 23)) {
    }
    use_i2c();
    use_spi();
    use_adc();
    REG(UART1 + 0x24) = 67;
    REG(UART1 + 0x28) = 52;
    REG(UART1 + 0x2c) = 7u << 4;
    REG(UART1 + 0x30) = 0x301;
    REG(UART1) = 'u';
    while (REG(UART1 + 0x18) & RXFE) {
    }
    put_field("uart", REG(UART1) == 'u');
    /* GP2 drives, GP3 follows by a wire. */
    REG(IO_BANK0 + 8 * 2 + 4) = 5;
    REG(SIO + 0x24) = 1u << 2;
    REG(SIO + 0x14) = 1u << 2;
    put_field("wire", REG(SIO + 4) >> 3 & 1);
    REG(SIO + 0x18) = 1u << 2;
    put_field("wire_low", REG(SIO + 4) >> 3 & 1);
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
