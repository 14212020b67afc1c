/* ChibiOS's binary semaphores, whose calls are inline: they lock the kernel and call functions of counting semaphores. */
#pragma once

typedef binary_semaphore_t port_binary_semaphore_t;

/* Creates an empty binary semaphore. Returns false if it fails. */
static inline bool port_binary_semaphore_create(port_binary_semaphore_t *semaphore)
{
    chBSemObjectInit(semaphore, true);
    return true;
}

/* Takes a binary semaphore, and waits for as long as it is empty. Returns false if the kernel refuses. */
static inline bool port_binary_semaphore_take(port_binary_semaphore_t *semaphore)
{
    return chBSemWait(semaphore) == MSG_OK;
}

/* Gives a binary semaphore, and wakes the longest waiting task. A full one stays full. */
static inline bool port_binary_semaphore_give(port_binary_semaphore_t *semaphore)
{
    chBSemSignal(semaphore);
    return true;
}
