/* Core 1 started as the pico-sdk (reset, pop the ROM's 0, six words, restart on a wrong echo) or as NuttX does it (no
 * pop, five words in an outer loop that drains first). Then words over the FIFO, by polling and by interrupt. */
#include "kit.h"

#define FIFO_ST (SIO + 0x50)
#define FIFO_WR (SIO + 0x54)
#define FIFO_RD (SIO + 0x58)
#define VLD 1u
#define RDY 2u

static uint32_t core1_stack[256];
static volatile uint32_t launches, answered;
extern const void *const vectors[48];

static void drain(void) {
    while (REG(FIFO_ST) & VLD) {
        (void)REG(FIFO_RD);
    }
}

static uint32_t pop(void) {
    while (!(REG(FIFO_ST) & VLD)) {
        wfe();
    }
    return REG(FIFO_RD);
}

static void push(uint32_t word) {
    while (!(REG(FIFO_ST) & RDY)) {
    }
    REG(FIFO_WR) = word;
    sev();
}

void irq_sio1(void) {
    while (REG(FIFO_ST) & VLD) {
        uint32_t word = REG(FIFO_RD);
        push(word * word + REG(SIO));
    }
    REG(FIFO_ST) = 0xff;
}

static void core1(void) {
    drain();
    REG(FIFO_ST) = 0xff;
    REG(NVIC_ICPR) = 1u << IRQ_SIO1;
    REG(NVIC_ISER) = 1u << IRQ_SIO1;
    push(0xc0de0001);
    for (;;) {
        wfi();
    }
}

#ifdef NUTTX
static void nuttx_drain(void) {
    REG(FIFO_ST) = 0;
    drain();
    sev();
}

static void launch(void) {
    REG(PSM + 4) |= 1u << 16;
    while (!(REG(PSM + 4) & 1u << 16)) {
    }
    REG(PSM + 4) &= ~(1u << 16);
    uint32_t words[5] = {0, 1, REG(SCB_VTOR), (uint32_t)(core1_stack + 256), (uint32_t)core1};
    int n;
    do {
        launches++;
        nuttx_drain();
        for (n = 0; n < 5; n++) {
            push(words[n]);
            if (pop() != words[n]) {
                break;
            }
        }
    } while (n < 5);
}
#else
static void launch(void) {
    SET(PSM + 4) = 1u << 16;
    while (!(REG(PSM + 4) & 1u << 16)) {
    }
    CLR(PSM + 4) = 1u << 16;
    put_field("first", pop());
    uint32_t words[6] = {0, 0, 1, REG(SCB_VTOR), (uint32_t)(core1_stack + 256), (uint32_t)core1};
    uint32_t n = 0;
    do {
        if (!words[n]) {
            drain();
            sev();
        }
        push(words[n]);
        launches++;
        n = pop() == words[n] ? n + 1 : 0;
    } while (n < 6);
}
#endif

void irq_sio0(void) {
    while (REG(FIFO_ST) & VLD) {
        answered += REG(FIFO_RD);
    }
    REG(FIFO_ST) = 0xff;
}

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    for (int again = 0; again < 2; again++) {
        launches = 0;
        launch();
        put_field("launches", launches);
        put_text("core1=");
        put_hex(pop());
        put_text("\n");
    }
    push(7);
    put_field("square", pop());
    answered = 0;
    REG(FIFO_ST) = 0xff;
    REG(NVIC_ICPR) = 1u << IRQ_SIO0;
    REG(NVIC_ISER) = 1u << IRQ_SIO0;
    for (uint32_t n = 1; n <= 20; n++) {
        push(n);
    }
    while (answered != 2870 + 20) {
        wfi();
    }
    put_field("sum", answered);
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
