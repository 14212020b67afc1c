/* What every Cortex-M core has: interrupt masking, SysTick, the NVIC. Included by the bench_cpu.h of each architecture. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bench_arch_facts.h"

#define CPU_REGISTER(address) (*(volatile uint32_t *)(address))

#define CPU_SYST_CSR CPU_REGISTER(0xE000E010u)
#define CPU_SYST_RVR CPU_REGISTER(0xE000E014u)
#define CPU_SYST_CVR CPU_REGISTER(0xE000E018u)
#define CPU_SCB_VTOR CPU_REGISTER(0xE000ED08u)
/* Levels of the core's own exceptions, by their most significant bits: SVCall; SysTick and PendSV. */
#define CPU_SCB_SHPR2 CPU_REGISTER(0xE000ED1Cu)
#define CPU_SCB_SHPR3 CPU_REGISTER(0xE000ED20u)
#define CPU_SHPR2_SVCALL(level) ((uint32_t)(level) << 24)
#define CPU_SHPR3_SYSTICK(level) ((uint32_t)(level) << 24)
#define CPU_SHPR3_PENDSV(level) ((uint32_t)(level) << 16)
#define CPU_LEAST_URGENT ((1u << CPU_PRIORITY_FIELD_BITS) - 1u)

#define CPU_SYST_CORE_CLOCK_INTERRUPT_ON 7u
#define CPU_SYST_RELOAD_MOST 0xFFFFFFu

/* Banks of 32 lines; IPR holds four lines a word, and v6-M allows word access only. */
#define CPU_NVIC_ISER(bank) CPU_REGISTER(0xE000E100u + 4u * (bank))
#define CPU_NVIC_ICER(bank) CPU_REGISTER(0xE000E180u + 4u * (bank))
#define CPU_NVIC_ISPR(bank) CPU_REGISTER(0xE000E200u + 4u * (bank))
#define CPU_NVIC_ICPR(bank) CPU_REGISTER(0xE000E280u + 4u * (bank))
#define CPU_NVIC_IPR(word) CPU_REGISTER(0xE000E400u + 4u * (word))

/* Masks all interrupts. Returns the mask from before, for cpu_restore_interrupts. */
static inline uint32_t cpu_mask_interrupts(void)
{
    uint32_t before;

    __asm volatile("mrs %0, PRIMASK\n\tcpsid i" : "=r"(before)::"memory");
    return before;
}

/* Restores the interrupt mask that cpu_mask_interrupts has returned. */
static inline void cpu_restore_interrupts(uint32_t before)
{
    __asm volatile("msr PRIMASK, %0" ::"r"(before) : "memory");
}

/* Starts a tick every so many cycles, on the core's clock. `cycles` is from 1 to CPU_SYST_RELOAD_MOST + 1. */
static inline void cpu_systick_start(uint32_t cycles)
{
    CPU_SYST_RVR = cycles - 1u;
    CPU_SYST_CVR = 0;
    CPU_SYST_CSR = CPU_SYST_CORE_CLOCK_INTERRUPT_ON;
}

/* Stops the core until an interrupt is pending. */
static inline void cpu_wait_for_interrupt(void)
{
    __asm volatile("wfi" ::: "memory");
}

/* Enables an interrupt line at an urgency. Urgency 0 is the most urgent; the number of priority
 * bits comes from board.toml. */
static inline void cpu_irq_enable(unsigned line, unsigned urgency, unsigned priority_bits)
{
    unsigned shift = 8u * (line & 3u);
    uint32_t priority = (urgency << (CPU_PRIORITY_FIELD_BITS - priority_bits)) & CPU_LEAST_URGENT;

    CPU_NVIC_IPR(line >> 2) = (CPU_NVIC_IPR(line >> 2) & ~(0xFFu << shift)) | (priority << shift);
    CPU_NVIC_ICPR(line >> 5) = 1u << (line & 31u);
    CPU_NVIC_ISER(line >> 5) = 1u << (line & 31u);
}

/* Pends an interrupt line, and lets the core take it before the caller's next instruction. Without the barriers the
 * core may execute a few more instructions first, and a benchmark would time whatever these happen to be. */
static inline void cpu_irq_pend(unsigned line)
{
    CPU_NVIC_ISPR(line >> 5) = 1u << (line & 31u);
    __asm volatile("dsb\n\tisb" ::: "memory");
}
