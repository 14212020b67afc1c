/* Configuration of the kernel's port for ARMv6-M cores. */
#pragma once

/* The port's handlers take their slots in our vector table. */
#define SVC_Handler isr_svcall
#define PendSV_Handler isr_pendsv
#define SysTick_Handler isr_systick

/* The port is written for both; tasks here are all privileged. */
#define configENABLE_MPU 0

/* No count-leading-zeros on ARMv6-M. */
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0

/* No BASEPRI: the kernel masks with PRIMASK, so a handler of any level may call it. */
#define configBENCH_ISR_URGENCY 0
