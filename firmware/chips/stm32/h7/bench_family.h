/* STM32H7: addresses (RM0433, 2.3) and what the shared files ask of a family. */
#pragma once

#include "bench_stm32.h"

#define RCC_BASE 0x58024400u
#define RCC_CR (RCC_BASE + 0x00u)
#define RCC_CFGR (RCC_BASE + 0x10u)
#define RCC_D1CFGR (RCC_BASE + 0x18u)
#define RCC_D2CFGR (RCC_BASE + 0x1Cu)
#define RCC_D3CFGR (RCC_BASE + 0x20u)
#define RCC_PLLCKSELR (RCC_BASE + 0x28u)
#define RCC_PLLCFGR (RCC_BASE + 0x2Cu)
#define RCC_PLL1DIVR (RCC_BASE + 0x30u)
#define RCC_AHB4ENR (RCC_BASE + 0xE0u)
#define RCC_APB1ENR (RCC_BASE + 0xE8u) /* its low half, where timers and serial ports are */
#define RCC_APB2ENR (RCC_BASE + 0xF0u)
#define RCC_APB4ENR (RCC_BASE + 0xF4u)

#define FLASH_ACR 0x52002000u
#define PWR_CSR1 0x58024804u
#define PWR_CR3 0x5802480Cu
#define PWR_D3CR 0x58024818u
#define SYSCFG_PWRCR 0x5800042Cu
#define DBGMCU_IDCODE 0x5C001000u
#define AXI_TARG7_FN_MOD 0x51008108u

#define GPIO_BASE(port) (0x58020000u + 0x400u * (port))
#define GPIO_ENABLE RCC_AHB4ENR
#define GPIO_ENABLE_BIT(port) (port)
#define UART_ALTERNATE_FUNCTION 7u

#define USART1_BASE 0x40011000u
#define USART1_ENABLE_BIT 4u

/* TIM2 has 32 bits. */
#define TIMER_LOW_BASE 0x40000000u
#define TIMER_LOW_ENABLE RCC_APB1ENR
#define TIMER_LOW_ENABLE_BIT 0u
#define TIMER_CLOCK_HZ TIMER_HZ_OF(APB1_HZ, CLOCK_APB1_DIV)

/* EXTI: RM0433, 20; SYSCFG: 12. */
#define EXTI_IMR 0x58000080u
#define EXTI_RTSR 0x58000000u
#define EXTI_PORTS(pin) (0x58000408u + 4u * ((pin) / 4u))
#define EXTI_PORTS_ENABLE RCC_APB4ENR
#define EXTI_PORTS_ENABLE_BIT 1u

/* Starts clocks, voltage and flash interface as board.toml and the build's options say. */
void family_start_clocks(void);
void family_start_caches(void);
