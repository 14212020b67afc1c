/* What every image here shares: register access, a vector table that images override, start-up code.
 *
 * The images re-enact what common SDKs and kernels do to the hardware, in the same register order and with the same
 * waits. They must not include helpers that would hide an access. */
#pragma once
#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define XOR(address) REG((address) + 0x1000)
#define SET(address) REG((address) + 0x2000)
#define CLR(address) REG((address) + 0x3000)

#define CLOCKS 0x40008000u
#define RESETS 0x4000c000u
#define PSM 0x40010000u
#define IO_BANK0 0x40014000u
#define IO_QSPI 0x40018000u
#define PADS_BANK0 0x4001c000u
#define XOSC 0x40024000u
#define PLL_SYS 0x40028000u
#define PLL_USB 0x4002c000u
#define UART0 0x40034000u
#define ADC 0x4004c000u
#define TIMER 0x40054000u
#define WATCHDOG 0x40058000u
#define ROSC 0x40060000u
#define VREG 0x40064000u
#define XIP_CTRL 0x14000000u
#define SSI 0x18000000u
#define DMA 0x50000000u
#define USB_DPRAM 0x50100000u
#define USB 0x50110000u
#define SIO 0xd0000000u
#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u
#define SYST_CVR 0xe000e018u
#define NVIC_ISER 0xe000e100u
#define NVIC_ICER 0xe000e180u
#define NVIC_ISPR 0xe000e200u
#define NVIC_ICPR 0xe000e280u
#define NVIC_IPR 0xe000e400u
#define SCB_ICSR 0xe000ed04u
#define SCB_VTOR 0xe000ed08u
#define SCB_AIRCR 0xe000ed0cu
#define SCB_SCR 0xe000ed10u

#define UART_DR (UART0 + 0x00)
#define UART_FR (UART0 + 0x18)
#define UART_IBRD (UART0 + 0x24)
#define UART_FBRD (UART0 + 0x28)
#define UART_LCR_H (UART0 + 0x2c)
#define UART_CR (UART0 + 0x30)
#define UART_IFLS (UART0 + 0x34)
#define UART_IMSC (UART0 + 0x38)
#define UART_RIS (UART0 + 0x3c)
#define UART_MIS (UART0 + 0x40)
#define UART_ICR (UART0 + 0x44)
#define UART_DMACR (UART0 + 0x48)
#define TXFF (1u << 5)
#define RXFE (1u << 4)
#define TXFE (1u << 7)
#define BUSY (1u << 3)
#define INT_RX (1u << 4)
#define INT_TX (1u << 5)
#define INT_RT (1u << 6)

#define IRQ_TIMER0 0
#define IRQ_USB 5
#define IRQ_SIO0 15
#define IRQ_SIO1 16
#define IRQ_UART0 20

#define wfi() __asm__ volatile("wfi" ::: "memory")
#define wfe() __asm__ volatile("wfe" ::: "memory")
#define sev() __asm__ volatile("sev" ::: "memory")
#define irq_off() __asm__ volatile("cpsid i" ::: "memory")
#define irq_on() __asm__ volatile("cpsie i" ::: "memory")
#define NOINLINE __attribute__((noinline))
#define IN_RAM __attribute__((noinline, section(".ram_code")))

int main(void);
void clocks_as_the_sdk_sets_them(void);
void uart_as_the_sdk_sets_it(void);
void put_char(char c);
void put_text(const char *text);
void put_number(uint32_t value);
void put_hex(uint32_t value);
void put_field(const char *name, uint32_t value);
uint32_t time_us(void);
void wait_us(uint32_t us);

static inline void wait_set(uint32_t address, uint32_t bits) {
    while ((REG(address) & bits) != bits) {
    }
}

static inline void write_masked(uint32_t address, uint32_t value, uint32_t mask) {
    XOR(address) = (REG(address) ^ value) & mask;
}
