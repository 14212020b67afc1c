/* Boot block of the speed workload: quad continuous-read XIP at clk_sys / 2, then the vector table behind it.
 * Facts: RP2040 data sheet 2.8.1 and 4.10. The build appends the checksum. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .section .boot2, "ax"
    ldr r3, =0x18000000             /* SSI */
    movs r0, #0
    str r0, [r3, #0x08]             /* SSIENR: off while it is set up */
    movs r0, #2
    str r0, [r3, #0x14]             /* BAUDR */
    ldr r0, =(2 << 21) | (31 << 16) | (3 << 8)
    str r0, [r3]                    /* CTRLR0: quad, 32-bit frames, EEPROM read */
    ldr r0, =(0xa0 << 24) | (4 << 11) | (8 << 2) | 2
    movs r1, #0xf4
    adds r1, r3
    str r0, [r1]                    /* SPI_CTRLR0: continuous read, 32 address and mode bits, 4 wait cycles */
    movs r0, #1
    str r0, [r3, #0x08]
    ldr r0, =0x10000100
    ldr r1, =0xe000ed08             /* VTOR */
    str r0, [r1]
    ldmia r0, {r0, r1}
    msr msp, r0
    bx r1
    .ltorg
    .org 256
