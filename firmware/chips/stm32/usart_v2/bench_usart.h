/* USART of the STM32L0, F7 and H7 (RM0410, 34). */
#pragma once

#define USART_CR1 0x00u
#define USART_BRR 0x0Cu
#define USART_STATUS 0x1Cu /* ISR */
#define USART_TRANSMIT 0x28u /* TDR */
#define USART_CR1_ENABLE ((1u << 0) | (1u << 3) | (1u << 2)) /* UE, TE, RE */
