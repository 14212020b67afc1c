/* A consumer looks whether there is something to do and suspends itself if not; between the two it can be interrupted.
 *
 *   1  the consumer sees no item, and works on something else first
 *   2  the producer wakes (tick 2), makes an item, resumes the consumer, which is not suspended: nothing happens
 *   3  the consumer suspends itself, with the item there; nobody will resume it again */
#include "bench_scene.h"

static port_task_t consumer, producer;
static volatile bool item;

int main(void);

/* Runs task consumer: it takes the item, or suspends itself if there is none. */
static void consumer_entry(void *argument)
{
    (void)argument;
    for (;;) {
        if (!item) {
            work(40000); /* long enough for the producer to come between */
            port_suspend_self(consumer);
        }
        item = false;
    }
}

/* Runs task producer: it makes one item and resumes the consumer, after two ticks. */
static void producer_entry(void *argument)
{
    (void)argument;
    port_sleep_ticks(2);
    item = true;
    port_resume(consumer);
    for (;;) {
        port_sleep_ticks(100);
    }
}

/* Starts the board, creates two tasks, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    make_task(&consumer, "consumer", consumer_entry, 1);
    make_task(&producer, "producer", producer_entry, 2);
    port_start();
    return 0;
}
