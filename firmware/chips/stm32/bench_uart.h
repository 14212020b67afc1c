/* Which USART board.toml names: its address, its bus, its clock switch. USART1 hangs on APB2, the others on APB1. */
#pragma once

#include "bench_family.h"
#include "bench_usart.h"

#if BOARD_UART_INDEX == 1
#define UART_BASE USART1_BASE
#define UART_ENABLE RCC_APB2ENR
#define UART_ENABLE_BIT USART1_ENABLE_BIT
#define UART_CLOCK_HZ APB2_HZ
#elif BOARD_UART_INDEX == 2
#define UART_BASE 0x40004400u
#define UART_ENABLE RCC_APB1ENR
#define UART_ENABLE_BIT 17u
#define UART_CLOCK_HZ APB1_HZ
#elif BOARD_UART_INDEX == 3
#define UART_BASE 0x40004800u
#define UART_ENABLE RCC_APB1ENR
#define UART_ENABLE_BIT 18u
#define UART_CLOCK_HZ APB1_HZ
#else
#error "board.toml: uart.index must be 1, 2 or 3"
#endif

#define USART_STATUS_TC (1u << 6)
#define USART_STATUS_TXE (1u << 7)
