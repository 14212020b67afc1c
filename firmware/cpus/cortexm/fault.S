/* Entry of the exceptions that end a run. They must work whatever state the machine is in, so the registers that say
 * where it happened are caught first and the handler then runs on a stack of its own: the interrupted one may be the
 * cause. One stack per core, because both cores may fail at once. */
#include "bench_board_facts.h"

    .syntax unified
    .thumb

    .bss
    .align 3
fault_stacks:
    .space BOARD_CORES * 512
    .equ fault_stack_bytes, 512

    .section .text.cpu_fault_entry, "ax", %progbits
    .thumb_func
    .global cpu_nmi
cpu_nmi:
    .thumb_func
    .global cpu_hardfault
cpu_hardfault:
    .thumb_func
    .global cpu_unexpected
    .type cpu_unexpected, %function
cpu_unexpected:
    cpsid i
    mov r0, lr                      /* EXC_RETURN: bit 2 tells which stack holds the frame */
    movs r1, #4
    tst r0, r1
    bne frame_on_process_stack
    mrs r1, msp
    b have_frame
frame_on_process_stack:
    mrs r1, psp
have_frame:
    mrs r2, ipsr
#if BOARD_CORES > 1
    ldr r3, =BOARD_CORE_ID_ADDRESS
    ldr r3, [r3]
#else
    movs r3, #0
#endif
    adds r3, #1
    lsls r3, #9                     /* (core + 1) * fault_stack_bytes */
    ldr r4, =fault_stacks
    adds r4, r3
    mov sp, r4
    ldr r4, =cpu_report_fault       /* (exc_return, frame, exception); does not return */
    bx r4
    .ltorg
