/* Two state machines as drivers use them: a WS2812 strip on GPIO 3 that DMA feeds, and a counter of another machine whose
 * flag interrupts the core every 100 us. */
#include "kit.h"

#define PIO0 0x50200000u
#define PIO1 0x50300000u
#define SM_CLKDIV 0xc8
#define SM_EXECCTRL 0xcc
#define SM_SHIFTCTRL 0xd0
#define SM_INSTR 0xd8
#define SM_PINCTRL 0xdc
#define FUNC_PIO0 6
#define IRQ_PIO1_0 9
#define DREQ_PIO0_TX0 0
#define PIXELS 12

static uint32_t pixels[PIXELS];
static volatile uint32_t ticks;

void irq_pio1_0(void) {
    REG(PIO1 + 0x30) = 1;
    ticks++;
}

static void load(uint32_t pio, const uint16_t *program, uint32_t count) {
    for (uint32_t n = 0; n < count; n++) {
        REG(pio + 0x48 + 4 * n) = program[n];
    }
    REG(pio + SM_EXECCTRL) = (count - 1) << 12;
}

/* A bit in ten ticks: low for two, high for three, then four at the level of the bit, and low for one. */
static const uint16_t strip[] = {
    0x6121, /* out x, 1 [1]      */
    0xe201, /* set pins, 1 [2]   */
    0xa301, /* mov pins, x [3]   */
    0xe000, /* set pins, 0       */
};

/* A hundred ticks of 1 us, then a flag: 2 + 32 + 32 + 32 + 2. */
static const uint16_t counter[] = {
    0xe121, /* set x, 1 [1]      */
    0xbf42, /* nop [31]          */
    0xbf42, /* nop [31]          */
    0xbf42, /* nop [31]          */
    0xc100, /* irq 0 [1]         */
};

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    CLR(RESETS) = 1u << 2 | 1u << 10 | 1u << 11;
    while (~REG(RESETS + 8) & (1u << 2 | 1u << 10 | 1u << 11)) {
    }
    for (uint32_t n = 0; n < PIXELS; n++) {
        pixels[n] = (n * 0x123457u + 0x80ff01u) << 8;
    }
    load(PIO0, strip, 4);
    REG(PIO0 + SM_CLKDIV) = 15u << 16 | 160u << 8;
    REG(PIO0 + SM_SHIFTCTRL) = 1u << 30 | 24u << 25 | 1u << 17;
    REG(PIO0 + SM_PINCTRL) = 1u << 26 | 1u << 20 | 3u << 5 | 3u;
    REG(PIO0 + SM_INSTR) = 0xe081; /* set pindirs, 1 */
    REG(IO_BANK0 + 8 * 3 + 4) = FUNC_PIO0;
    SET(PIO0) = 1;
    REG(DMA + 0x00) = (uint32_t)pixels;
    REG(DMA + 0x04) = PIO0 + 0x10;
    REG(DMA + 0x08) = PIXELS;
    REG(DMA + 0x0c) = 1u | 2u << 2 | 1u << 4 | DREQ_PIO0_TX0 << 15;
    while (REG(DMA + 0x0c) & 1u << 24) {
    }
    put_field("left", REG(DMA + 0x08));
    wait_us(1000);
    put_field("stalled", REG(PIO0 + 0x08) == 1u << 24);

    load(PIO1, counter, 5);
    REG(PIO1 + SM_CLKDIV) = 125u << 16;
    REG(PIO1 + 0x12c) = 1u << 8;
    REG(NVIC_ISER) = 1u << IRQ_PIO1_0;
    REG(PIO1) = 1u << 8 | 1u << 4 | 1u;
    uint32_t begin = time_us();
    while (ticks < 50) {
        wfi();
    }
    put_field("took", (time_us() - begin + 5) / 100);
    REG(PIO1) = 0;
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
