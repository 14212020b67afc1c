/* Configuration of the kernel's ports for ARMv7-M cores. */
#pragma once

/* The ports' handlers take their slots in our vector table. */
#define vPortSVCHandler isr_svcall
#define xPortPendSVHandler isr_pendsv
#define xPortSysTickHandler isr_systick

/* 1, these ports' own default: the most urgent ready priority by count-leading-zeros. 0: by search, as the kernel does
 * everywhere else; recorded with every number. */
#ifndef configUSE_PORT_OPTIMISED_TASK_SELECTION
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#endif

/* Levels, the most urgent first: 0 to 4 are never masked and must not call the kernel; 5 is the most urgent that may. */
#define configPRIO_BITS BOARD_IRQ_PRIORITY_BITS
#define configBENCH_ISR_URGENCY 5
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (configBENCH_ISR_URGENCY << (8 - configPRIO_BITS))
#define configKERNEL_INTERRUPT_PRIORITY (((1 << configPRIO_BITS) - 1) << (8 - configPRIO_BITS))
