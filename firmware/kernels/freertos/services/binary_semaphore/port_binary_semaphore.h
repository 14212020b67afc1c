/* FreeRTOS's binary semaphores: of a kind of their own, with the calls of counting semaphores. */
#pragma once

typedef SemaphoreHandle_t port_binary_semaphore_t;

/* Creates an empty binary semaphore. Returns false if it fails. */
static inline bool port_binary_semaphore_create(port_binary_semaphore_t *semaphore)
{
    *semaphore = xSemaphoreCreateBinary();
    return *semaphore != NULL;
}

/* Takes a binary semaphore, and waits for as long as it is empty. Returns false if the kernel refuses. */
static inline bool port_binary_semaphore_take(port_binary_semaphore_t *semaphore)
{
    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;
}

/* Gives a binary semaphore, and wakes the most urgent waiter. Returns false if it is full. */
static inline bool port_binary_semaphore_give(port_binary_semaphore_t *semaphore)
{
    return xSemaphoreGive(*semaphore) == pdTRUE;
}
