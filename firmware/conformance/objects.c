/* The objects that scenes use. Made once and before the kernel starts: some kernels can make none later, and the
 * smallest board has no room for two sets. */
#include "bench_conformance.h"

#if KERNEL_SERVICES_SEMAPHORE
port_semaphore_t semaphores[3], counting;
#endif
#if KERNEL_SERVICES_MUTEX
port_mutex_t mutex;
#endif
#if KERNEL_SERVICES_CONDITION
port_condition_t condition;
#endif
#if KERNEL_SERVICES_QUEUE
port_queue_t queue;
#endif
#if KERNEL_SERVICES_MAILBOX
port_mailbox_t mailbox;
#endif
#if KERNEL_SERVICES_QUEUE_POINTER
port_pointer_queue_t pointer_queue;
#endif
#if KERNEL_SERVICES_POOL
port_pool_t pool;
#endif
#if KERNEL_SERVICES_EVENT
port_event_t event;
#endif

/* Ends the run with an error if a kernel object could not be created. A kernel that has tasks and sleep alone does not
 * call it, such as one whose port is being written. */
__attribute__((unused)) static void need(bool made)
{
    if (!made) {
        last_words_error(ERROR_PREPARE, "an object of the conformance suite");
    }
}

/* Creates all kernel objects that the scenes use. */
void objects_make(void)
{
#if KERNEL_SERVICES_SEMAPHORE
    for (size_t i = 0; i < sizeof semaphores / sizeof semaphores[0]; i++) {
        need(port_semaphore_create(&semaphores[i], 1, 0));
    }
    need(port_semaphore_create(&counting, 3, 1));
#endif
#if KERNEL_SERVICES_MUTEX
    need(port_mutex_create(&mutex));
#endif
#if KERNEL_SERVICES_CONDITION
    need(port_condition_create(&condition));
#endif
#if KERNEL_SERVICES_QUEUE
    need(port_queue_create(&queue, QUEUE_LENGTH, 2 * sizeof(uint32_t)));
#endif
#if KERNEL_SERVICES_MAILBOX
    need(port_mailbox_create(&mailbox));
#endif
#if KERNEL_SERVICES_QUEUE_POINTER
    need(port_pointer_queue_create(&pointer_queue, QUEUE_LENGTH));
#endif
#if KERNEL_SERVICES_POOL
    need(port_pool_create(&pool, POOL_BLOCKS, POOL_BLOCK_BYTES));
#endif
#if KERNEL_SERVICES_EVENT
    need(port_event_create(&event));
#endif
}
