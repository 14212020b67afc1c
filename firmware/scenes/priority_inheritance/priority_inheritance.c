/* The healthy twin of priority_inversion: a mutex is the lock, so its holder inherits the waiter's priority.
 *
 *   1  low takes the lock and works
 *   2  high wakes (tick 2), wants the lock, waits
 *   3  medium wakes (tick 3), and does not run: low is as urgent as high until it gives the lock back */
#include "bench_scene.h"

static port_mutex_t lock;
static port_task_t low, medium, high;

int main(void);

/* Runs task low: it works for long while it has the lock. */
static void low_entry(void *argument)
{
    (void)argument;
    for (;;) {
        (void)port_mutex_lock(&lock);
        work(40000);
        (void)port_mutex_unlock(&lock);
        port_sleep_ticks(100);
    }
}

/* Runs task medium: it works for long without the lock. */
static void medium_entry(void *argument)
{
    (void)argument;
    for (;;) {
        port_sleep_ticks(3);
        work(120000);
        port_sleep_ticks(100);
    }
}

/* Runs task high: it works briefly while it has the lock. */
static void high_entry(void *argument)
{
    (void)argument;
    for (;;) {
        port_sleep_ticks(2);
        (void)port_mutex_lock(&lock);
        work(100);
        (void)port_mutex_unlock(&lock);
        port_sleep_ticks(100);
    }
}

/* Starts the board, creates the lock and three tasks, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    if (!port_mutex_create(&lock)) {
        last_words_error(ERROR_PREPARE, "lock");
    }
    make_task(&low, "low", low_entry, 1);
    make_task(&medium, "medium", medium_entry, 2);
    make_task(&high, "high", high_entry, 3);
    port_start();
    return 0;
}
