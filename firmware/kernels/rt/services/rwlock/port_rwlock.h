/* rt's read-write locks. Readers count in one atomic word; a writer has the mutex of the lock. */
#pragma once

#include <rt/rwlock.h>

typedef struct rt_rwlock port_rwlock_t;

/* Creates a read-write lock. Returns false if it fails. */
static inline bool port_rwlock_create(port_rwlock_t *lock)
{
    *lock = (struct rt_rwlock)RT_RWLOCK_INIT(*lock);
    return true;
}

/* Locks a read-write lock for reading, and waits for as long as a writer has it. Returns false if the kernel refuses. */
static inline bool port_rwlock_read_lock(port_rwlock_t *lock)
{
    rt_rwlock_rdlock(lock); /* cannot fail */
    return true;
}

/* Unlocks a read-write lock that the calling task has locked for reading. Returns false if the kernel refuses. */
static inline bool port_rwlock_read_unlock(port_rwlock_t *lock)
{
    rt_rwlock_rdunlock(lock); /* cannot fail */
    return true;
}

/* Locks a read-write lock for writing, and waits for as long as anybody has it. Returns false if the kernel refuses. */
static inline bool port_rwlock_write_lock(port_rwlock_t *lock)
{
    rt_rwlock_wrlock(lock); /* cannot fail */
    return true;
}

/* Unlocks a read-write lock that the calling task has locked for writing. Returns false if the kernel refuses. */
static inline bool port_rwlock_write_unlock(port_rwlock_t *lock)
{
    rt_rwlock_wrunlock(lock); /* cannot fail */
    return true;
}
