/* NuttX's read-write locks, those of POSIX. Each has a mutex and a condition variable; one call unlocks both kinds of lock. */
#pragma once

typedef pthread_rwlock_t port_rwlock_t;

/* Creates a read-write lock. Returns false if it fails. */
static inline bool port_rwlock_create(port_rwlock_t *lock)
{
    return pthread_rwlock_init(lock, NULL) == 0;
}

/* Locks a read-write lock for reading, and waits for as long as a writer has it. Returns false if the kernel refuses. */
static inline bool port_rwlock_read_lock(port_rwlock_t *lock)
{
    return pthread_rwlock_rdlock(lock) == 0;
}

/* Unlocks a read-write lock that the calling task has locked for reading. Returns false if the kernel refuses. */
static inline bool port_rwlock_read_unlock(port_rwlock_t *lock)
{
    return pthread_rwlock_unlock(lock) == 0;
}

/* Locks a read-write lock for writing, and waits for as long as anybody has it. Returns false if the kernel refuses. */
static inline bool port_rwlock_write_lock(port_rwlock_t *lock)
{
    return pthread_rwlock_wrlock(lock) == 0;
}

/* Unlocks a read-write lock that the calling task has locked for writing. Returns false if the kernel refuses. */
static inline bool port_rwlock_write_unlock(port_rwlock_t *lock)
{
    return pthread_rwlock_unlock(lock) == 0;
}
