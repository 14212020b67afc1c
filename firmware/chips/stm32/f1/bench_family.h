/* STM32F1: addresses (RM0008, 3.3) and what the shared files ask of a family. */
#pragma once

#include "bench_stm32.h"

#define RCC_BASE 0x40021000u
#define RCC_CR (RCC_BASE + 0x00u)
#define RCC_CFGR (RCC_BASE + 0x04u)
#define RCC_APB2ENR (RCC_BASE + 0x18u)
#define RCC_APB1ENR (RCC_BASE + 0x1Cu)

#define FLASH_ACR 0x40022000u

#define GPIO_BASE(port) (0x40010800u + 0x400u * (port))
#define GPIO_ENABLE RCC_APB2ENR
#define GPIO_ENABLE_BIT(port) ((port) + 2u)

#define USART1_BASE 0x40013800u
#define USART1_ENABLE_BIT 14u

/* TIM2 counts, TIM3 its overflows: both of 16 bits, both on APB1; TIM2 is TIM3's trigger input 1. */
#define TIMER_LOW_BASE 0x40000000u
#define TIMER_LOW_ENABLE RCC_APB1ENR
#define TIMER_LOW_ENABLE_BIT 0u
#define TIMER_HIGH_BASE 0x40000400u
#define TIMER_HIGH_ENABLE RCC_APB1ENR
#define TIMER_HIGH_ENABLE_BIT 1u
#define TIMER_HIGH_TRIGGER 1u
#define TIMER_CLOCK_HZ TIMER_HZ_OF(APB1_HZ, CLOCK_APB1_DIV)

/* EXTI: RM0008, 10; AFIO selects the port: 9.4. */
#define EXTI_IMR 0x40010400u
#define EXTI_RTSR 0x40010408u
#define EXTI_PORTS(pin) (0x40010008u + 4u * ((pin) / 4u))
#define EXTI_PORTS_ENABLE RCC_APB2ENR
#define EXTI_PORTS_ENABLE_BIT 0u

/* Starts clocks and flash interface as board.toml and the build's options say. */
void family_start_clocks(void);

/* Does nothing: this family has no caches, and the clock set-up enables the prefetch buffer. */
static inline void family_start_caches(void)
{
}
