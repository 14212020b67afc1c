/* RP2040: the FIFOs between the cores, and a word of the shared page under a hardware spinlock (RP2040 datasheet, 2.3.1). */
#pragma once

#include "bench_amp.h"
#include "bench_fifo.h"

#define PAIR_SPINLOCK CPU_REGISTER(SIO_SPINLOCK(AMP_SPINLOCKS_MESSAGE))
#define PAIR_HOLDER (AMP_SHARED->holder)
#define PAIR_FIFO_CLEAR 0xFFu

/* Enables the interrupt of the FIFO between the cores, at this urgency. */
static inline void pair_fifo_enable(unsigned urgency)
{
    fifo_drain(); /* the start of core 1 may have left words */
    CPU_REGISTER(SIO_FIFO_ST) = PAIR_FIFO_CLEAR; /* an overflow interrupts, too */
    cpu_irq_enable(AMP_FIFO_IRQ, urgency, BOARD_IRQ_PRIORITY_BITS);
}

/* Sends a word to the other core through the FIFO. */
static inline void pair_fifo_send(uint32_t word)
{
    CPU_REGISTER(SIO_FIFO_WR) = word;
}

/* Returns the next word that the other core has sent through the FIFO. */
static inline uint32_t pair_fifo_read(void)
{
    return CPU_REGISTER(SIO_FIFO_RD);
}

/* Tries to take the hardware spinlock between the images. Returns whether it succeeded. */
static inline bool pair_try_lock(void)
{
    bool taken = PAIR_SPINLOCK != 0;

    __asm volatile("dmb" ::: "memory");
    return taken;
}

/* Waits for the hardware spinlock between the images and takes it. */
static inline void pair_lock(void)
{
    while (!pair_try_lock()) {
    }
}

/* Frees the hardware spinlock between the images. */
static inline void pair_unlock(void)
{
    __asm volatile("dmb" ::: "memory");
    PAIR_SPINLOCK = 0;
}

/* Sends a word to the other core through shared memory. */
static inline void pair_memory_send(uint32_t word)
{
    pair_lock();
    AMP_SHARED->words[AMP_OTHER_CORE] = word;
    AMP_SHARED->is_full[AMP_OTHER_CORE] = 1;
    pair_unlock();
}

/* Returns whether shared memory has a word for this core. */
static inline bool pair_memory_has_word(void)
{
    return AMP_SHARED->is_full[AMP_CORE] != 0;
}

/* Returns the word that the other core has sent through shared memory. */
static inline uint32_t pair_memory_read(void)
{
    uint32_t word;

    pair_lock();
    word = AMP_SHARED->words[AMP_CORE];
    AMP_SHARED->is_full[AMP_CORE] = 0;
    pair_unlock();
    return word;
}
