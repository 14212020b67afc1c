/* The handler of the edge; see bench_activation.h. The handler stands in the vector table itself. */
#include "bench_activation.h"

port_semaphore_t activation;
volatile enum target target;
uint32_t not_interrupted;
volatile uint32_t handler_entries;

void BOARD_EDGE_IRQ_HANDLER(void);

/* Handles the input pin's edge: ends the measurement of the entry, or wakes the task. */
void BOARD_EDGE_IRQ_HANDLER(void)
{
    if (target == TARGET_HANDLER) {
        bench_stop(SERIES_ISR_ENTRY);
    }
    board_edge_irq_clear();
    if (target == TARGET_NONE) {
        return;
    }
    port_isr_enter();
    handler_entries = handler_entries + 1u;
    port_semaphore_give_from_isr(&activation);
    port_isr_exit();
}
