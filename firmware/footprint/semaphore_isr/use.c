/* A binary semaphore that an interrupt gives, over one that the task itself gives. */
#include "bench_footprint.h"

static port_semaphore_t semaphore;

void BOARD_SOFT_IRQ_HANDLER(void);

void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    port_semaphore_give_from_isr(&semaphore);
    port_isr_exit();
}

bool footprint_prepare(void)
{
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return port_semaphore_create(&semaphore, 1, 1);
}

void footprint_use(void)
{
    (void)port_semaphore_take(&semaphore);
    board_soft_irq_pend();
    (void)port_semaphore_take(&semaphore);
    (void)port_semaphore_give(&semaphore);
}
