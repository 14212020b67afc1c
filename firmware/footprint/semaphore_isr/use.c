/* A binary semaphore that an interrupt gives, over one that the task itself gives. */
#include "bench_footprint.h"

static port_semaphore_t semaphore;

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: gives the semaphore. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    port_semaphore_give_from_isr(&semaphore);
    port_isr_exit();
}

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return port_semaphore_create(&semaphore, 1, 1);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    (void)port_semaphore_take(&semaphore);
    board_soft_irq_pend();
    (void)port_semaphore_take(&semaphore);
    (void)port_semaphore_give(&semaphore);
}
