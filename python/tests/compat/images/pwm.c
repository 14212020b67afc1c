/* A servo and a LED as drivers set them: slice 0 A at 50 Hz on GPIO 0 and 16, slice 4 B phase-correct on GPIO 25, and a
 * level that is changed while the slice runs. */
#include "kit.h"

#define PWM 0x40050000u
#define FUNC_PWM 4

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    CLR(RESETS) = 1u << 14;
    while (~REG(RESETS + 8) & 1u << 14) {
    }
    /* 125 MHz by 62.5: 2 MHz; 40,000 steps a period. High for 1.5 ms. */
    REG(PWM + 4) = 62u << 4 | 8;
    REG(PWM + 16) = 40000 - 1;
    REG(PWM + 12) = 3000;
    /* 1 MHz, from 0 to 100 and back. High for 60 of the 202 steps. */
    REG(PWM + 80 + 4) = 125u << 4;
    REG(PWM + 80 + 16) = 100;
    REG(PWM + 80 + 12) = 30u << 16;
    REG(IO_BANK0 + 8 * 0 + 4) = FUNC_PWM;
    REG(IO_BANK0 + 8 * 16 + 4) = FUNC_PWM;
    REG(IO_BANK0 + 8 * 25 + 4) = FUNC_PWM;
    REG(PWM) = 1;
    REG(PWM + 80) = 3;
    wait_us(30000);
    REG(PWM + 12) = 4000;
    put_text("changed\n");
    wait_us(50000);
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
