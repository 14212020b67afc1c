/* RP2040: the FIFOs between the cores, and a word of the shared page under a hardware spinlock (RP2040 datasheet, 2.3.1). */
#pragma once

#include "bench_amp.h"

#define PAIR_SIO_FIFO_ST CPU_REGISTER(0xD0000050u)
#define PAIR_SIO_FIFO_WR CPU_REGISTER(0xD0000054u)
#define PAIR_SIO_FIFO_RD CPU_REGISTER(0xD0000058u)
#define PAIR_SPINLOCK CPU_REGISTER(0xD0000100u + 4u * AMP_SPINLOCKS_MESSAGE)
#define PAIR_HOLDER (AMP_SHARED->holder)
#define PAIR_FIFO_VALID 1u
#define PAIR_FIFO_CLEAR 0xFFu

static inline void pair_fifo_enable(unsigned urgency)
{
    while ((PAIR_SIO_FIFO_ST & PAIR_FIFO_VALID) != 0) { /* what the start of core 1 has left */
        (void)PAIR_SIO_FIFO_RD;
    }
    PAIR_SIO_FIFO_ST = PAIR_FIFO_CLEAR; /* an overflow interrupts, too */
    cpu_irq_enable(AMP_FIFO_IRQ, urgency, BOARD_IRQ_PRIORITY_BITS);
}

static inline void pair_fifo_send(uint32_t word)
{
    PAIR_SIO_FIFO_WR = word;
}

static inline uint32_t pair_fifo_read(void)
{
    return PAIR_SIO_FIFO_RD;
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
