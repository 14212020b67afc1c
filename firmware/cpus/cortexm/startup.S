/* Reset and the vector table of a Cortex-M core, in the instructions that all of them have.
 *
 * The linker script says where things lie: .text may be loaded away from where it runs (code in SRAM), so nothing but
 * the code in .boot may run before the copy loop has finished. The handlers' names are the ones kernel ports for these
 * parts expect; each is weak and leads to cpu_unexpected, which reports the exception instead of hanging silently. */
#include "bench_board_facts.h"
#include "bench_config.h" /* nothing of it is used: a kernel's assembler files include it, so it must assemble */

    .syntax unified
    .thumb

    /* The default must stand in this file: a weak alias of a symbol defined elsewhere would be resolved at once. */
    .section .text.unexpected, "ax", %progbits
    .thumb_func
unexpected:
    ldr r0, =cpu_unexpected
    bx r0
    .ltorg

    .macro handler name
    .weak \name
    .thumb_set \name, unexpected
    .word \name
    .endm

    .section .vectors, "a", %progbits
    /* The whole table, rounded up to a power of two; VTOR of a v6-M core holds bits 31:8. */
#if BOARD_IRQ_LINES <= 48
    .align 8
#elif BOARD_IRQ_LINES <= 112
    .align 9
#else
    .align 10
#endif
    .global cpu_vectors
    .type cpu_vectors, %object
cpu_vectors:
    .word __main_stack_top
    .word cpu_reset
    .word cpu_nmi
    .word cpu_hardfault
    .rept 7                         /* v7-M: three faults, off at reset and left so: they become HardFault */
    .word cpu_unexpected
    .endr
    handler isr_svcall
    .word cpu_unexpected
    .word cpu_unexpected
    handler isr_pendsv
    handler isr_systick
    .altmacro
    .macro irq_handler number
    handler isr_irq\number
    .endm
    .set line, 0
    .rept BOARD_IRQ_LINES
    irq_handler %line
    .set line, line + 1
    .endr
    .noaltmacro
    .size cpu_vectors, . - cpu_vectors

/* What the boot block reads when the real table is still to be copied; a fault this early has nobody to report to. */
    .section .boot_vectors, "a", %progbits
    .word __main_stack_top
    .word cpu_reset
    .word cpu_boot_fault
    .word cpu_boot_fault

    .section .boot, "ax", %progbits
    .thumb_func
    .global cpu_boot_fault
cpu_boot_fault:
    b cpu_boot_fault

    .thumb_func
    .global cpu_reset
    .type cpu_reset, %function
cpu_reset:
    cpsid i
#ifdef __ARM_FP
    ldr r0, =0xE000ED88             /* CPACR: full access to the floating-point unit */
    ldr r1, =(0xF << 20)
    ldr r2, [r0]
    orrs r2, r1
    str r2, [r0]
    dsb
    isb
#endif
    adr r7, copy_table
    movs r6, #2
copy_next:
    subs r6, #1
    bmi clear
    ldmia r7!, {r1, r2, r3}         /* load address, start, end */
copy_word:
    cmp r2, r3
    bhs copy_next
    ldmia r1!, {r0}
    stmia r2!, {r0}
    b copy_word
clear:
    ldr r2, =__bss_start
    ldr r3, =__bss_end
    movs r0, #0
clear_word:
    cmp r2, r3
    bhs enter
    stmia r2!, {r0}
    b clear_word
enter:
    ldr r0, =cpu_vectors
    ldr r1, =0xE000ED08             /* VTOR */
    str r0, [r1]
    dsb
    isb
    cpsie i
    ldr r0, =main
    blx r0
    b cpu_boot_fault
    .align 2
copy_table:
    .word __text_load, __text_start, __text_end
    .word __data_load, __data_start, __data_end
    .ltorg
