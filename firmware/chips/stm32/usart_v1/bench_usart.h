/* USART of the STM32F1 and F4 (RM0090, 30). */
#pragma once

#define USART_STATUS 0x00u /* SR */
#define USART_TRANSMIT 0x04u /* DR */
#define USART_BRR 0x08u
#define USART_CR1 0x0Cu
#define USART_CR1_ENABLE ((1u << 13) | (1u << 3) | (1u << 2)) /* UE, TE, RE */
