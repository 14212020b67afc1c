/* A task made and deleted by another one. The stack and the control block are in the pool; they come back to it. */
#include "bench_footprint.h"

/* Spins for ever, as the task that is deleted. */
static void short_lived(void *argument)
{
    (void)argument;
    for (;;) {
    }
}

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    static const struct port_task_request request = {
        .name = "spawned", .entry = short_lived, .argument = NULL, .stack_bytes = BENCH_STACK_BYTES, .priority = 0};
    port_task_t task;

    if (port_task_spawn(&task, &request)) {
        port_task_delete(task);
    }
}
