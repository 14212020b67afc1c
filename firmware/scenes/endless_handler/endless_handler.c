/* A handler leaves its request up, as one does that forgets to clear a peripheral's flag. No task runs after that. */
#include "bench_scene.h"

static port_task_t task;

int main(void);
void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt, and pends it again at once. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    board_soft_irq_pend();
}

/* Runs the task: it pends the interrupt once, after five ticks. */
static void entry(void *argument)
{
    (void)argument;
    port_sleep_ticks(5);
    board_soft_irq_pend();
    for (;;) {
        port_sleep_ticks(1);
    }
}

/* Starts the board, creates the task, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    board_soft_irq_enable(PORT_ISR_URGENCY);
    make_task(&task, "task", entry, 1);
    port_start();
    return 0;
}
