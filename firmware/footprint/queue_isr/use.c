/* A queue of four words that an interrupt fills, over one that the task itself fills. */
#include "bench_footprint.h"

static port_queue_t queue;

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: sends an item to the queue. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    static const uint32_t item = 1;

    port_isr_enter();
    (void)port_queue_send_from_isr(&queue, &item);
    port_isr_exit();
}

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return port_queue_create(&queue, 4, sizeof(uint32_t));
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    uint32_t item = 0;

    (void)port_queue_send(&queue, &item);
    (void)port_queue_receive(&queue, &item);
    board_soft_irq_pend();
    (void)port_queue_receive(&queue, &item);
}
