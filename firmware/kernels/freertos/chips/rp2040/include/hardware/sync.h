/* Hardware spinlocks: reading one claims it (0 if it was taken), writing anything releases it. */
#pragma once

#include "pico.h"

typedef volatile uint32_t spin_lock_t;

/* Returns the register of a hardware spinlock. */
static __force_inline spin_lock_t *spin_lock_instance(uint32_t number)
{
    return (spin_lock_t *)(0xD0000100u + 4u * number);
}

/* Does nothing: nobody else here uses spinlocks. */
static __force_inline void spin_lock_claim(uint32_t number)
{
    (void)number;
}

/* Takes a spinlock if it is free. Returns false if it is taken. */
static __force_inline bool spin_try_lock_unsafe(spin_lock_t *lock)
{
    return *lock != 0;
}

/* Takes a spinlock, and waits for it. The barrier keeps what the lock protects from being read before the lock is held. */
static __force_inline void spin_lock_unsafe_blocking(spin_lock_t *lock)
{
    while (*lock == 0) {
    }
    __asm volatile("dmb" ::: "memory");
}

/* Releases a spinlock. */
static __force_inline void spin_unlock_unsafe(spin_lock_t *lock)
{
    __asm volatile("dmb" ::: "memory");
    *lock = 0;
}
