/* Two tasks take two mutexes in opposite order.
 *
 *   1  left locks A, sleeps a tick
 *   2  right locks B, sleeps a tick
 *   3  left wants B, right wants A: both wait for ever */
#include "bench_scene.h"

static port_mutex_t a, b;
static port_task_t left, right;

int main(void);

/* Locks two mutexes in this order, works, and unlocks them, again and again. */
static void both(port_mutex_t *first, port_mutex_t *second)
{
    for (;;) {
        (void)port_mutex_lock(first);
        port_sleep_ticks(1);
        (void)port_mutex_lock(second);
        work(1000);
        (void)port_mutex_unlock(second);
        (void)port_mutex_unlock(first);
    }
}

/* Runs task left: it locks A first. */
static void left_entry(void *argument)
{
    (void)argument;
    both(&a, &b);
}

/* Runs task right: it locks B first, or A in the healthy twin. */
static void right_entry(void *argument)
{
    (void)argument;
#ifdef SCENE_HEALTHY
    both(&a, &b);
#else
    both(&b, &a);
#endif
}

/* Starts the board, creates two mutexes and two tasks, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    if (!port_mutex_create(&a) || !port_mutex_create(&b)) {
        last_words_error(ERROR_PREPARE, "mutex");
    }
    make_task(&left, "left", left_entry, 1);
    make_task(&right, "right", right_entry, 1);
    port_start();
    return 0;
}
