/* An event that an interrupt sets, over one that the task itself sets. */
#include "bench_footprint.h"

static port_event_t event;

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: sets a bit of the event. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    port_event_set_from_isr(&event, 2);
    port_isr_exit();
}

/* Creates the kernel objects that footprint_use needs. Returns false if that fails. */
bool footprint_prepare(void)
{
    board_soft_irq_enable(PORT_ISR_URGENCY);
    return port_event_create(&event);
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    port_event_set(&event, 1);
    (void)port_event_wait_any(&event, 1);
    board_soft_irq_pend();
    (void)port_event_wait_any(&event, 2);
}
