/* Second-stage boot block for the Pico's W25Q080-class flash.
 *
 * The boot ROM copies these 256 bytes to SRAM, checks the CRC-32 in the last word and jumps here on the ring oscillator
 * with the flash still in plain serial mode. This code turns the flash interface to quad continuous read (fast read quad
 * I/O, EBh, with mode bits A0h so that later reads carry no command byte) and then starts the image whose vector table
 * follows at 0x10000100. Called with a return address in LR (a flash driver re-entering XIP mode) it returns instead.
 * Position-independent; the CRC word is put behind it by the build. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

    .equ SSI, 0x18000000
    .equ SSI_CTRLR0, 0x00
    .equ SSI_CTRLR1, 0x04
    .equ SSI_SSIENR, 0x08
    .equ SSI_BAUDR, 0x14
    .equ SSI_SR, 0x28
    .equ SSI_DR0, 0x60
    .equ SSI_RX_SAMPLE_DLY, 0xF0    /* beyond the reach of str's offset: own base register */
    .equ SR_BUSY, 1
    .equ SR_TFE, 4

    .equ CMD_READ_STATUS1, 0x05
    .equ CMD_READ_STATUS2, 0x35
    .equ CMD_WRITE_ENABLE, 0x06
    .equ CMD_WRITE_STATUS, 0x01
    .equ CMD_QUAD_READ, 0xEB
    .equ STATUS2_QUAD_ENABLE, 0x02
    .equ MODE_CONTINUOUS, 0xA0

    .section .text, "ax", %progbits
    .thumb_func
    .global boot2
boot2:
    push {lr}

    /* Pads: strong, fast clock; data inputs without hysteresis, which costs time at full speed. */
    ldr r3, =0x40020000             /* PADS_QSPI */
    movs r0, #0x21                  /* 8 mA, fast slew */
    str r0, [r3, #0x04]
    ldr r0, [r3, #0x08]
    movs r1, #2
    bics r0, r1
    str r0, [r3, #0x08]
    str r0, [r3, #0x0C]
    str r0, [r3, #0x10]
    str r0, [r3, #0x14]

    ldr r3, =SSI
    movs r4, #SSI_RX_SAMPLE_DLY
    adds r4, r3
    movs r0, #0
    str r0, [r3, #SSI_SSIENR]
    movs r0, #FLASH_CLOCK_DIVIDER
    str r0, [r3, #SSI_BAUDR]
    movs r0, #1                     /* sample one clk_sys late */
    str r0, [r4, #0]

    /* Plain serial, 8-bit frames: is the quad-enable bit set? It is stored in the flash; write it only once. */
    ldr r0, =(7 << 16)
    str r0, [r3, #SSI_CTRLR0]
    movs r0, #1
    str r0, [r3, #SSI_SSIENR]
    movs r0, #CMD_READ_STATUS2
    bl read_status
    movs r1, #STATUS2_QUAD_ENABLE
    cmp r0, r1
    beq quad_enabled
    movs r0, #CMD_WRITE_ENABLE
    str r0, [r3, #SSI_DR0]
    bl wait_idle
    ldr r0, [r3, #SSI_DR0]
    movs r0, #CMD_WRITE_STATUS
    str r0, [r3, #SSI_DR0]
    movs r0, #0
    str r0, [r3, #SSI_DR0]
    str r1, [r3, #SSI_DR0]
    bl wait_idle
    ldr r0, [r3, #SSI_DR0]
    ldr r0, [r3, #SSI_DR0]
    ldr r0, [r3, #SSI_DR0]
write_in_progress:
    movs r0, #CMD_READ_STATUS1
    bl read_status
    movs r1, #1
    tst r0, r1
    bne write_in_progress
quad_enabled:
    movs r0, #0
    str r0, [r3, #SSI_SSIENR]

    /* Quad, 32-bit frames, read only; one frame per read. First read with its command, to hand over the mode bits. */
    ldr r0, =((2 << 21) | (31 << 16) | (3 << 8))
    str r0, [r3, #SSI_CTRLR0]
    movs r0, #0
    str r0, [r3, #SSI_CTRLR1]
    ldr r0, =((4 << 11) | (2 << 8) | (8 << 2) | 1)
    str r0, [r4, #4]                /* SPI_CTRLR0: 8-bit command serial, 32 address+mode bits quad, 4 dummy clocks */
    movs r0, #1
    str r0, [r3, #SSI_SSIENR]
    movs r0, #CMD_QUAD_READ
    str r0, [r3, #SSI_DR0]
    movs r0, #MODE_CONTINUOUS
    str r0, [r3, #SSI_DR0]
    bl wait_idle

    /* From now on no command byte: the mode bits keep the flash in read mode. */
    movs r0, #0
    str r0, [r3, #SSI_SSIENR]
    ldr r0, =((MODE_CONTINUOUS << 24) | (4 << 11) | (8 << 2) | 2)
    str r0, [r4, #4]
    movs r0, #1
    str r0, [r3, #SSI_SSIENR]

    pop {r0}
    cmp r0, #0
    beq start_image
    bx r0
start_image:
    ldr r0, =0x10000100
    ldr r1, =0xE000ED08             /* VTOR */
    str r0, [r1]
    ldmia r0!, {r1, r2}
    msr msp, r1
    bx r2

/* r0: command in, status out. Each byte sent brings one back; the second is the answer. */
    .thumb_func
read_status:
    mov r7, lr
    str r0, [r3, #SSI_DR0]
    str r0, [r3, #SSI_DR0]
    bl wait_idle
    ldr r0, [r3, #SSI_DR0]
    ldr r0, [r3, #SSI_DR0]
    bx r7

/* Uses r5, r6. Everything sent, and nothing on the wire: in this order, because BUSY is low before the first bit. */
    .thumb_func
wait_idle:
    ldr r5, [r3, #SSI_SR]
    movs r6, #SR_TFE
    tst r5, r6
    beq wait_idle
    movs r6, #SR_BUSY
    tst r5, r6
    bne wait_idle
    bx lr
    .ltorg
