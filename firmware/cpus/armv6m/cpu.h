/* What every board with an ARMv6-M core has: interrupt masking, the NVIC, SysTick as a short cycle ruler. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CPU_EXCEPTION_NMI 2u
#define CPU_EXCEPTION_HARDFAULT 3u

#define CPU_REGISTER(address) (*(volatile uint32_t *)(address))

#define CPU_SYST_CSR CPU_REGISTER(0xE000E010u)
#define CPU_SYST_RVR CPU_REGISTER(0xE000E014u)
#define CPU_SYST_CVR CPU_REGISTER(0xE000E018u)
#define CPU_NVIC_ISER CPU_REGISTER(0xE000E100u)
#define CPU_NVIC_ICER CPU_REGISTER(0xE000E180u)
#define CPU_NVIC_ISPR CPU_REGISTER(0xE000E200u)
#define CPU_NVIC_ICPR CPU_REGISTER(0xE000E280u)
#define CPU_NVIC_IPR(n) CPU_REGISTER(0xE000E400u + 4u * (n))
#define CPU_SCB_VTOR CPU_REGISTER(0xE000ED08u)

/* Short ruler: 24 bits of SysTick, counting down at the core's clock. */
#define CPU_RULER_MASK 0x00FFFFFFu

static inline uint32_t cpu_mask_interrupts(void)
{
    uint32_t before;

    __asm volatile("mrs %0, PRIMASK\n\tcpsid i" : "=r"(before)::"memory");
    return before;
}

static inline void cpu_restore_interrupts(uint32_t before)
{
    __asm volatile("msr PRIMASK, %0" ::"r"(before) : "memory");
}

static inline void cpu_wait_for_interrupt(void)
{
    __asm volatile("wfi" ::: "memory");
}

/* Urgency 0 is the most urgent; the number of bits comes from board.toml. Word access only: v6-M has no other to IPR. */
static inline void cpu_irq_enable(unsigned line, unsigned urgency, unsigned priority_bits)
{
    unsigned shift = 8u * (line & 3u);
    uint32_t priority = (urgency << (8u - priority_bits)) & 0xFFu;

    CPU_NVIC_IPR(line >> 2) = (CPU_NVIC_IPR(line >> 2) & ~(0xFFu << shift)) | (priority << shift);
    CPU_NVIC_ICPR = 1u << line;
    CPU_NVIC_ISER = 1u << line;
}

/* The barriers make the pended interrupt be taken before the next instruction of the caller: without them the core may
 * run on for a few instructions, and a benchmark would time whatever these happen to be. */
static inline void cpu_irq_pend(unsigned line)
{
    CPU_NVIC_ISPR = 1u << line;
    __asm volatile("dsb\n\tisb" ::: "memory");
}

/* False if somebody (a kernel's tick) already owns SysTick on this core. */
static inline bool cpu_ruler_start(void)
{
    if ((CPU_SYST_CSR & 1u) != 0) {
        return false;
    }
    CPU_SYST_RVR = CPU_RULER_MASK;
    CPU_SYST_CVR = 0;
    CPU_SYST_CSR = 5u; /* core clock, no interrupt */
    return true;
}

static inline uint32_t cpu_ruler_read(void)
{
    return CPU_SYST_CVR;
}

static inline uint32_t cpu_ruler_cycles(uint32_t from, uint32_t to)
{
    return (from - to) & CPU_RULER_MASK; /* counts down */
}

static inline void cpu_ruler_stop(void)
{
    CPU_SYST_CSR = 0;
    CPU_SYST_RVR = 0;
    CPU_SYST_CVR = 0;
}
