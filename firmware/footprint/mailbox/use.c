/* A mailbox: the message is a pointer. */
#include "bench_footprint.h"

static port_mailbox_t mailbox;

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    return port_mailbox_create(&mailbox);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    void *message;

    (void)port_mailbox_send(&mailbox, &mailbox);
    (void)port_mailbox_receive(&mailbox, &message);
}
