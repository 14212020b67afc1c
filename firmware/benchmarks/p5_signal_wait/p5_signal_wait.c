/* Access pattern 5 as kernels with condition variables have it: on each core a task signals a condition that a more
 * urgent one waits for.
 *
 * Starts the clock   the window opens while the waiting task waits and the signalling one stands at the gate.
 * Ends the clock     the window closes, wherever the tasks are.
 * Inside by design   one signal, the switch to the waiting task, its taking the mutex again, the count, its next wait
 *                    (which gives the mutex back), the switch back, the run flag, the kernel's tick.
 * Excluded           making the mutex and the condition.
 *
 * One task alone cannot do both: a signal that nobody waits for is lost. So this is other work than setting and clearing
 * a bit (p5_set_clear), and the two must not be compared.
 *
 * Steps: 1 waiting task: wait, 2 signalling task: signal, 3 waiting task: runs at once, count, and again. */
#include "bench/bench.h"

enum role { SIGNALLING, WAITING };

static port_mutex_t mutexes[BENCH_CORES];
static port_condition_t conditions[BENCH_CORES];
static volatile bool draining[BENCH_CORES]; /* the signal that follows is the last one */

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    return self->index != WAITING ||
           (port_mutex_create(&mutexes[self->core]) && port_condition_create(&conditions[self->core]));
}

/* Does the work of the waiting task: waits for the condition and counts, until the last signal of the phase. */
static void wait(struct bench_task *self)
{
    port_mutex_t *mutex = &mutexes[self->core];

    if (!port_mutex_lock(mutex)) {
        self->failures++;
    }
    for (;;) {
        port_condition_wait(&conditions[self->core], mutex); /* 1 */
        if (draining[self->core]) {
            break;
        }
        bench_count(self); /* 3 */
    }
    if (!port_mutex_unlock(mutex)) {
        self->failures++;
    }
}

/* Does the work of the signalling task: signals the condition until the phase ends, and once more
 * to let the other task go. */
static void signal_all(struct bench_task *self)
{
    draining[self->core] = false;
    while (bench_running()) {
        port_condition_signal(&conditions[self->core]); /* 2 */
    }
    draining[self->core] = true;
    port_condition_signal(&conditions[self->core]);
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    if (self->index == WAITING) {
        wait(self);
    } else {
        signal_all(self);
    }
}

const struct bench_program bench_program = {
    .priority = {1, 2},
    .prepare = prepare,
    .body = body,
};
