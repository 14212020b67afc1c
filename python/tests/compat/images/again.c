/* A jump through the boot ROM's own vectors, as an image loaded by a debugger does: the chip boots from flash again. */
#include "kit.h"

__attribute__((section(".uninitialised"))) static uint32_t boots, mark;

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    if (mark != 0x600dda7a) {
        mark = 0x600dda7a;
        boots = 0;
    }
    boots++;
    put_field("boot", boots);
    while (REG(UART_FR) & BUSY) {
    }
    if (boots < 3) {
        uint32_t vectors = 0;
        __asm__ volatile("str %0, [%1]\n ldmia %0!, {r1, r2}\n msr msp, r1\n bx r2" : "+l"(vectors) : "l"(SCB_VTOR) : "r1", "r2");
    }
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
