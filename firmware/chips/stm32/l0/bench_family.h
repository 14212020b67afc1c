/* STM32L0: addresses (RM0367, 2.2) and what the shared files ask of a family. */
#pragma once

#include "bench_stm32.h"

#define RCC_BASE 0x40021000u
#define RCC_CR (RCC_BASE + 0x00u)
#define RCC_CFGR (RCC_BASE + 0x0Cu)
#define RCC_IOPENR (RCC_BASE + 0x2Cu)
#define RCC_APB2ENR (RCC_BASE + 0x34u)
#define RCC_APB1ENR (RCC_BASE + 0x38u)

#define FLASH_ACR 0x40022000u
#define PWR_CR 0x40007000u
#define PWR_CSR 0x40007004u

#define GPIO_BASE(port) (0x50000000u + 0x400u * (port))
#define GPIO_ENABLE RCC_IOPENR
#define GPIO_ENABLE_BIT(port) (port)
#define UART_ALTERNATE_FUNCTION 4u

#define USART1_BASE 0x40013800u
#define USART1_ENABLE_BIT 14u

/* TIM22 counts, TIM21 its overflows: both of 16 bits, both on APB2; TIM22 is TIM21's trigger input 1. */
#define TIMER_LOW_BASE 0x40011400u
#define TIMER_LOW_ENABLE RCC_APB2ENR
#define TIMER_LOW_ENABLE_BIT 5u
#define TIMER_HIGH_BASE 0x40010800u
#define TIMER_HIGH_ENABLE RCC_APB2ENR
#define TIMER_HIGH_ENABLE_BIT 2u
#define TIMER_HIGH_TRIGGER 1u
#define TIMER_CLOCK_HZ TIMER_HZ_OF(APB2_HZ, CLOCK_APB2_DIV)

/* EXTI: RM0367, 13; SYSCFG: 10.2. */
#define EXTI_IMR 0x40010400u
#define EXTI_RTSR 0x40010408u
#define EXTI_PORTS(pin) (0x40010008u + 4u * ((pin) / 4u))
#define EXTI_PORTS_ENABLE RCC_APB2ENR
#define EXTI_PORTS_ENABLE_BIT 0u

/* Starts clocks, voltage and flash interface as board.toml and the build's options say. */
void family_start_clocks(void);

/* Does nothing: this family has no caches, and the clock set-up enables the flash interface's buffers. */
static inline void family_start_caches(void)
{
}
