/* A timer's handler clears the timer's flag as its last act. The store has not reached the timer as the handler returns,
 * so the request is still up, and the handler runs once more for nothing. For the STM32F4: TIM3, RM0390. */
#include "bench_scene.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_APB1ENR REGISTER(0x40023840u)
#define TIM3_CR1 REGISTER(0x40000400u)
#define TIM3_DIER REGISTER(0x4000040Cu)
#define TIM3_SR REGISTER(0x40000410u)
#define TIM3_ARR REGISTER(0x4000042Cu)

enum { TIM3_LINE = 29, PERIOD = 20000 };

static port_task_t task;
static volatile uint32_t runs;

int main(void);
void isr_irq29(void);

/* Handles the interrupt of TIM3: clears its flag as the last act, or as the first one in the healthy twin. */
void isr_irq29(void)
{
#ifdef SCENE_HEALTHY
    TIM3_SR = 0;
    runs++;
    (void)TIM3_SR; /* waits until the store has arrived */
#else
    runs++;
    TIM3_SR = 0;
#endif
}

/* Runs the task: it starts TIM3 and sleeps. */
static void entry(void *argument)
{
    (void)argument;
    RCC_APB1ENR |= 1u << 1;
    TIM3_ARR = PERIOD;
    TIM3_DIER = 1;
    cpu_irq_enable(TIM3_LINE, PORT_ISR_URGENCY, BOARD_IRQ_PRIORITY_BITS);
    TIM3_CR1 = 1;
    for (;;) {
        port_sleep_ticks(1);
    }
}

/* Starts the board, creates the task, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    make_task(&task, "task", entry, 1);
    port_start();
    return 0;
}
