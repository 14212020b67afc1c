/* A handler computes for long, as urgent as the tick or more: the tick comes late. */
#include "bench_scene.h"

#ifdef SCENE_HEALTHY
#define ROUNDS 10u
#else
#define ROUNDS 3000u
#endif

static port_task_t task;

int main(void);
void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: computes for long, or briefly in the healthy twin. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    work(ROUNDS);
}

/* Runs the task: it pends the interrupt shortly before a tick, again and again. */
static void entry(void *argument)
{
    (void)argument;
    for (;;) {
        port_sleep_ticks(3);
        work(7500);
        board_soft_irq_pend();
        work(100);
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
