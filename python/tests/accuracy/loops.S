/* Short published loops, each with a start of its own. `begin` is executed once in each iteration. Without `end` an
 * iteration is what was published, with it what is executed between the two. Branches go to local labels: one to a global
 * label is a 32-bit opcode. */
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word 0x20001000
    .word reset + 1
    .text
    .global reset, begin, end
    .thumb_func
reset:

#if defined wide_loop
    .balign 32
1:
begin:
    .rept 17
    nop.w
    .endr
    subs.w r9, r9, #1
    bne.w 1b

#elif defined unaligned_moves
    .balign 32
again:
    b 1f
    nop
1:
begin:
    mov r8, r8
    mov.w r8, r8
    mov.w r8, r8
    mov.w r8, r8
end:
    nop
    b again

#elif defined aligned_moves
    .balign 32
again:
    b 1f
    nop
1:
begin:
    mov.w r8, r8
    mov.w r8, r8
    mov.w r8, r8
    mov.w r8, r8
end:
    nop
    b again

#elif defined countdown_in_ram
    .equ begin, 0x20000100
    ldr r3, =begin + 1
    ldr r1, =0xdcfd3801 /* subs r0, #1; bgt begin */
    str r1, [r3, #-1]
    ldr r0, =0x7fffffff
    dsb
    isb
    bx r3

#elif defined gpio_read_loop
    ldr r0, =0x40022000 /* FLASH_ACR: prefetch, two wait states */
    movs r1, #0x12
    str r1, [r0]
    ldr r0, =0x40021018 /* RCC_APB2ENR: GPIOA */
    movs r1, #4
    str r1, [r0]
    ldr r2, =0x40010808 /* GPIOA_IDR */
    ldr r7, =0x20000400
    ldr r5, =1000
restart:
    movs r6, #0
    b 1f
    .balign 64
    .space 32
1:
begin:
    ldr r0, [r2]
    str.w r0, [r7, r6, lsl #2]
    adds r6, #1
    cmp r6, r5
    bne 1b
    b restart
#endif
