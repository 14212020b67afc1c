/* Vector table and start-up: core 1 goes back to the boot ROM, data is copied, main runs; a main that returns ends at
 * a breakpoint, as in the pico-sdk. */
#include "kit.h"

extern uint32_t stack_top, data_start, data_end, data_source, bss_start, bss_end;

void reset(void);

static void unhandled(void) {
    for (;;) {
        __asm__ volatile("bkpt #0");
    }
}

#define WEAK(name) void name(void) __attribute__((weak, alias("unhandled")))
WEAK(nmi);
WEAK(hard_fault);
WEAK(svcall);
WEAK(pendsv);
WEAK(systick);
WEAK(irq_timer0);
WEAK(irq_timer1);
WEAK(irq_timer2);
WEAK(irq_timer3);
WEAK(irq_usb);
WEAK(irq_pio1_0);
WEAK(irq_dma0);
WEAK(irq_sio0);
WEAK(irq_sio1);
WEAK(irq_uart0);
WEAK(irq_26);

__attribute__((section(".vectors"), used)) const void *const vectors[48] = {
    &stack_top,      (void *)reset,      (void *)nmi,        (void *)hard_fault,
    [11] = (void *)svcall,               [14] = (void *)pendsv,
    [15] = (void *)systick,              [16] = (void *)irq_timer0,
    [17] = (void *)irq_timer1,           [18] = (void *)irq_timer2,
    [19] = (void *)irq_timer3,           [21] = (void *)irq_usb,
    [25] = (void *)irq_pio1_0,
    [27] = (void *)irq_dma0,             [31] = (void *)irq_sio0,
    [32] = (void *)irq_sio1,             [36] = (void *)irq_uart0,
    [42] = (void *)irq_26,
};

/* The entry of an image in SRAM: there the boot ROM jumps to the first address, and the ROM's stack is in use. */
__attribute__((naked, section(".entry"), used)) void entry(void) {
    __asm__ volatile(
        "ldr r0, =vectors\n"
        "ldr r1, =0xe000ed08\n"
        "str r0, [r1]\n"
        "ldmia r0!, {r1, r2}\n"
        "msr msp, r1\n"
        "bx r2\n"
        ".ltorg\n");
}

__attribute__((used)) void reset(void) {
    if (REG(SIO) != 0) {
        /* Not core 0: the data table's neighbour 'WV' in the function table is the ROM's holding pen. */
        for (;;) {
            wfe();
        }
    }
    for (uint32_t *from = &data_source, *to = &data_start; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    main();
    unhandled();
}
