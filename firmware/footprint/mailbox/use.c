/* A mailbox: the message is a pointer. */
#include "bench_footprint.h"

static port_mailbox_t mailbox;

bool footprint_prepare(void)
{
    return port_mailbox_create(&mailbox);
}

void footprint_use(void)
{
    void *message;

    (void)port_mailbox_send(&mailbox, &mailbox);
    (void)port_mailbox_receive(&mailbox, &message);
}
