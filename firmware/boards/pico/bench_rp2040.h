/* The RP2040 registers this firmware touches, from the RP2040 datasheet (section in brackets). */
#pragma once

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Write-only aliases of a peripheral register: set or clear the bits written [2.1.2]. Not for SIO. */
#define SET_BITS(address) REGISTER((address) + 0x2000u)
#define CLEAR_BITS(address) REGISTER((address) + 0x3000u)

/* Resets [2.14] */
#define RESETS_RESET 0x4000C000u
#define RESETS_RESET_DONE 0x4000C008u
#define RESET_IO_BANK0 (1u << 5)
#define RESET_PADS_BANK0 (1u << 8)
#define RESET_PLL_SYS (1u << 12)
#define RESET_TIMER (1u << 21)
#define RESET_UART0 (1u << 22)

/* Crystal oscillator [2.16] */
#define XOSC_CTRL 0x40024000u
#define XOSC_STATUS 0x40024004u
#define XOSC_STARTUP 0x4002400Cu
#define XOSC_ENABLE_1_15MHZ ((0xFABu << 12) | 0xAA0u)
#define XOSC_STABLE (1u << 31)

/* System PLL [2.18] */
#define PLL_SYS_CS 0x40028000u
#define PLL_SYS_PWR 0x40028004u
#define PLL_SYS_FBDIV 0x40028008u
#define PLL_SYS_PRIM 0x4002800Cu
#define PLL_LOCK (1u << 31)
#define PLL_PD (1u << 0)
#define PLL_POSTDIVPD (1u << 3)
#define PLL_VCOPD (1u << 5)

/* Clock slices [2.15] */
#define CLK_REF_CTRL 0x40008030u
#define CLK_REF_DIV 0x40008034u
#define CLK_REF_SELECTED 0x40008038u
#define CLK_SYS_CTRL 0x4000803Cu
#define CLK_SYS_DIV 0x40008040u
#define CLK_SYS_SELECTED 0x40008044u
#define CLK_PERI_CTRL 0x40008048u
#define CLK_RESUS_CTRL 0x40008078u
#define CLK_DIV_BY_1 (1u << 8)
#define CLK_REF_SRC_XOSC 2u
#define CLK_SYS_SRC_AUX 1u /* AUXSRC 0: PLL_SYS */
#define CLK_PERI_ENABLE (1u << 11) /* AUXSRC 0: clk_sys */

/* Watchdog tick: clk_ref divided down to the 1 us that drives TIMER [4.7] */
#define WATCHDOG_TICK 0x4005802Cu
#define WATCHDOG_TICK_ENABLE (1u << 9)

/* TIMER [4.6]: the RAW pair, because reading the latched pair is shared between the cores */
#define TIMER_TIMERAWH 0x40054024u
#define TIMER_TIMERAWL 0x40054028u

/* Pins [2.19] */
#define IO_BANK0_CTRL(pin) (0x40014004u + 8u * (pin))
#define FUNCTION_UART 2u
#define FUNCTION_SIO 5u
#define IO_BANK0_INTE(core, pin) (0x40014100u + 0x30u * (core) + 4u * ((pin) / 8u))

/* UART0, a PL011 [4.2] */
#define UART0_DR 0x40034000u
#define UART0_FR 0x40034018u
#define UART0_IBRD 0x40034024u
#define UART0_FBRD 0x40034028u
#define UART0_LCR_H 0x4003402Cu
#define UART0_CR 0x40034030u
#define UART_FR_BUSY (1u << 3)
#define UART_FR_TXFF (1u << 5)
#define UART_LCR_8N1_FIFO ((3u << 5) | (1u << 4))
#define UART_CR_ENABLE_TX_RX ((1u << 0) | (1u << 8) | (1u << 9))

/* SIO [2.3.1] */
#define SIO_GPIO_OE_SET 0xD0000024u
#define SIO_FIFO_ST 0xD0000050u
#define SIO_SPINLOCK(n) (0xD0000100u + 4u * (n))
#define SIO_SPINLOCK_COUNT 32u
