/* RP2040: the FIFOs between the cores, and a word of the shared page under a hardware spinlock (RP2040 datasheet, 2.3.1). */
#pragma once

#include "bench_amp.h"
#include "bench_fifo.h"

#define PAIR_SPINLOCK CPU_REGISTER(SIO_SPINLOCK(AMP_SPINLOCKS_MESSAGE))
#define PAIR_HOLDER (AMP_SHARED->holder)
#define PAIR_FIFO_CLEAR 0xFFu

static inline void pair_fifo_enable(unsigned urgency)
{
    fifo_drain(); /* the start of core 1 may have left words */
    CPU_REGISTER(SIO_FIFO_ST) = PAIR_FIFO_CLEAR; /* an overflow interrupts, too */
    cpu_irq_enable(AMP_FIFO_IRQ, urgency, BOARD_IRQ_PRIORITY_BITS);
}

static inline void pair_fifo_send(uint32_t word)
{
    CPU_REGISTER(SIO_FIFO_WR) = word;
}

static inline uint32_t pair_fifo_read(void)
{
    return CPU_REGISTER(SIO_FIFO_RD);
}

static inline bool pair_try_lock(void)
{
    bool taken = PAIR_SPINLOCK != 0;

    __asm volatile("dmb" ::: "memory");
    return taken;
}

static inline void pair_lock(void)
{
    while (!pair_try_lock()) {
    }
}

static inline void pair_unlock(void)
{
    __asm volatile("dmb" ::: "memory");
    PAIR_SPINLOCK = 0;
}

static inline void pair_memory_send(uint32_t word)
{
    pair_lock();
    AMP_SHARED->words[AMP_OTHER_CORE] = word;
    AMP_SHARED->is_full[AMP_OTHER_CORE] = 1;
    pair_unlock();
}

static inline bool pair_memory_has_word(void)
{
    return AMP_SHARED->is_full[AMP_CORE] != 0;
}

static inline uint32_t pair_memory_read(void)
{
    uint32_t word;

    pair_lock();
    word = AMP_SHARED->words[AMP_CORE];
    AMP_SHARED->is_full[AMP_CORE] = 0;
    pair_unlock();
    return word;
}
