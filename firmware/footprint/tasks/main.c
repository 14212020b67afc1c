/* With a kernel that has tasks: the program's only one, if it has one, below it the kernel's own idle task. */
#include "bench_footprint.h"

#include "bench_core.h"

#define TASK_PRIORITY 1

port_task_t footprint_task;

int main(void);

/* Runs the task: calls the measured service for ever. */
static void entry(void *argument)
{
    (void)argument;
    for (;;) {
        footprint_use();
    }
}

/* Creates the kernel objects and the task, or stops with an error. */
static void make_task(void)
{
    static const struct port_task_request request = {
        .name = "task", .entry = entry, .argument = NULL, .stack_bytes = BENCH_STACK_BYTES, .priority = TASK_PRIORITY};

    if (!footprint_prepare() || !port_task_create(&footprint_task, &request)) {
        last_words_error(ERROR_PREPARE, "");
    }
}

/* Starts the board, creates the task if the program has one, and starts the kernel. */
int main(void)
{
    board_init();
    port_prepare();
    if (BENCH_TASKS_PER_CORE != 0) {
        make_task();
    }
    port_start();
    return 0;
}
