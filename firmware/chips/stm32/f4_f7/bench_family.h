/* STM32F4 and F7: addresses (RM0090, 2.3; RM0410, 2.2) and what the shared files ask of a family. */
#pragma once

#include "bench_stm32.h"

#define RCC_BASE 0x40023800u
#define RCC_CR (RCC_BASE + 0x00u)
#define RCC_PLLCFGR (RCC_BASE + 0x04u)
#define RCC_CFGR (RCC_BASE + 0x08u)
#define RCC_AHB1ENR (RCC_BASE + 0x30u)
#define RCC_APB1ENR (RCC_BASE + 0x40u)
#define RCC_APB2ENR (RCC_BASE + 0x44u)

#define FLASH_ACR 0x40023C00u
#define PWR_CR 0x40007000u
#define PWR_CSR 0x40007004u

#define GPIO_BASE(port) (0x40020000u + 0x400u * (port))
#define GPIO_ENABLE RCC_AHB1ENR
#define GPIO_ENABLE_BIT(port) (port)
#define UART_ALTERNATE_FUNCTION 7u

#define USART1_BASE 0x40011000u
#define USART1_ENABLE_BIT 4u

/* TIM2 has 32 bits. */
#define TIMER_LOW_BASE 0x40000000u
#define TIMER_LOW_ENABLE RCC_APB1ENR
#define TIMER_LOW_ENABLE_BIT 0u
#define TIMER_CLOCK_HZ TIMER_HZ_OF(APB1_HZ, CLOCK_APB1_DIV)

/* EXTI: RM0090, 12; SYSCFG: 9. */
#define EXTI_IMR 0x40013C00u
#define EXTI_RTSR 0x40013C08u
#define EXTI_PORTS(pin) (0x40013808u + 4u * ((pin) / 4u))
#define EXTI_PORTS_ENABLE RCC_APB2ENR
#define EXTI_PORTS_ENABLE_BIT 14u

/* Starts clocks, voltage and flash interface as board.toml and the build's options say. */
void family_start_clocks(void);

/* Sets the flash interface to the chosen wait states, and enables the caches. The folder of the family defines both. */
void family_start_flash(void);
void family_start_caches(void);
