/* rt's binary semaphores: semaphores with a maximum of 1. */
#pragma once

typedef struct rt_sem port_binary_semaphore_t;

/* Creates an empty binary semaphore. Returns false if it fails. */
static inline bool port_binary_semaphore_create(port_binary_semaphore_t *semaphore)
{
    *semaphore = (struct rt_sem)RT_SEM_INIT_BINARY(*semaphore);
    return true;
}

/* Takes a binary semaphore, and waits for as long as it is empty. Returns false if the kernel refuses. */
static inline bool port_binary_semaphore_take(port_binary_semaphore_t *semaphore)
{
    rt_sem_wait(semaphore); /* cannot fail */
    return true;
}

/* Gives a binary semaphore, and wakes the most urgent waiter. A full one stays full. */
static inline bool port_binary_semaphore_give(port_binary_semaphore_t *semaphore)
{
    rt_sem_post(semaphore);
    return true;
}
