/* An interrupt comes six times in a row and sends each time; the queue has room for four, and its receiver sleeps. */
#include "bench_scene.h"

#define BURST 6u
#ifdef SCENE_HEALTHY
#define ROOM 8u
#else
#define ROOM 4u
#endif

static port_queue_t queue;
static port_task_t source, receiver;

int main(void);
void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: sends an item to the queue, and does not look whether there was room. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    static const uint32_t item = 1;

    port_isr_enter();
    (void)port_queue_send_from_isr(&queue, &item);
    port_isr_exit();
}

/* Runs task source: it pends a burst of interrupts every ten ticks. */
static void source_entry(void *argument)
{
    (void)argument;
    for (;;) {
        for (uint32_t number = 0; number < BURST; number++) {
            board_soft_irq_pend();
        }
        port_sleep_ticks(10);
    }
}

/* Runs task receiver: it receives one item a tick. */
static void receiver_entry(void *argument)
{
    uint32_t item = 0;

    (void)argument;
    for (;;) {
        (void)port_queue_receive(&queue, &item);
        port_sleep_ticks(1);
    }
}

/* Starts the board, creates the queue and two tasks, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    if (!port_queue_create(&queue, ROOM, sizeof(uint32_t))) {
        last_words_error(ERROR_PREPARE, "queue");
    }
    board_soft_irq_enable(PORT_ISR_URGENCY);
    make_task(&source, "source", source_entry, 2);
    make_task(&receiver, "receiver", receiver_entry, 1);
    port_start();
    return 0;
}
