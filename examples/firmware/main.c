/* A small control loop for the NUCLEO-F446RE, without a kernel and without a library. It is the firmware of the tutorial
   "Your firmware in ten minutes". Registers: STM32F446 reference manual (RM0390). */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB1ENR REGISTER(0x40023840u)
#define GPIOA_MODER REGISTER(0x40020000u)
#define GPIOA_AFRL REGISTER(0x40020020u)
#define USART2_SR REGISTER(0x40004400u)
#define USART2_DR REGISTER(0x40004404u)
#define USART2_BRR REGISTER(0x40004408u)
#define USART2_CR1 REGISTER(0x4000440Cu)
#define SYST_CSR REGISTER(0xE000E010u)
#define SYST_RVR REGISTER(0xE000E014u)

enum { CLOCK_HZ = 16000000, BAUD = 115200, STEPS_PER_S = 1000, TAPS = 8 };

static volatile uint32_t ticks;

static void print(const char *text) {
    while (*text) {
        while (!(USART2_SR & 1u << 7)) {
        }
        USART2_DR = (uint32_t)*text++;
    }
}

static void print_number(uint32_t number) {
    char digits[11];
    char *digit = digits + sizeof digits - 1;
    *digit = 0;
    do {
        *--digit = (char)('0' + number % 10u);
        number /= 10u;
    } while (number);
    print(digit);
}

/* A moving average and a proportional controller. Returns the new output. */
__attribute__((noinline)) int32_t control_step(int32_t sample) {
    static int32_t history[TAPS];
    static uint32_t next;
    int32_t sum = 0;
    history[next++ % TAPS] = sample;
    for (uint32_t tap = 0; tap < TAPS; tap++) {
        sum += history[tap];
    }
    return (500 - sum / TAPS) * 3;
}

void SysTick_Handler(void) {
    ticks++;
}

int main(void) {
    int32_t output = 0;
    uint32_t done = 0;
    RCC_AHB1ENR |= 1u << 0;
    RCC_APB1ENR |= 1u << 17;
    GPIOA_MODER = (GPIOA_MODER & ~(3u << 4)) | 2u << 4;
    GPIOA_AFRL = (GPIOA_AFRL & ~(15u << 8)) | 7u << 8;
    USART2_BRR = CLOCK_HZ / BAUD;
    USART2_CR1 = 1u << 13 | 1u << 3;
    SYST_RVR = CLOCK_HZ / STEPS_PER_S - 1;
    SYST_CSR = 7;
    print("ready\n");
    for (;;) {
        while (done == ticks) {
        }
        done++;
        output = control_step(output / 8 + (int32_t)(done % 100u));
        if (done % 100u == 0) {
            print("step ");
            print_number(done);
            print(", output ");
            print_number((uint32_t)output);
            print("\n");
        }
    }
}
