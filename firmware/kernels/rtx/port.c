/* RTX5 behind the port contract: what is never measured, and what the kernel leaves to the application. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"

#include "rtx_os.h"

/* The kernel's tick is programmed from it. */
uint32_t SystemCoreClock = BOARD_CLOCK_SYS_HZ;

/* Prepares the kernel, before any object or task is created. */
void port_prepare(void)
{
    if (osKernelInitialize() != osOK) {
        last_words_error(ERROR_KERNEL_START, "osKernelInitialize failed");
    }
}

/* Creates a task with a priority on a core. Returns false if it fails. The same call serves before the
 * kernel runs and while it runs. */
bool port_task_create(port_task_t *task, const struct port_task_request *request)
{
    const osThreadAttr_t attributes = {
        .name = request->name,
        .stack_size = request->stack_bytes,
        .priority = (osPriority_t)PORT_PRIORITY(request->priority),
    };

    *task = request->core == 0 ? osThreadNew(request->entry, request->argument, &attributes) : NULL;
    return *task != NULL;
}

/* Creates a task on the calling core while the kernel runs. Returns false if it fails. */
bool port_task_spawn(port_task_t *task, const struct port_task_request *request)
{
    return port_task_create(task, request);
}

/* Returns how many bytes of a task's stack were used at most. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - osThreadGetStackSpace(task);
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    (void)osKernelStart();
}

/* Runs the kernel's idle task: spins for ever. */
void osRtxIdleThread(void *argument)
{
    (void)argument;
    for (;;) {
    }
}

/* Ends the run with a record of an error that the kernel has found: a stack overflow, or another `code`. */
uint32_t osRtxErrorNotify(uint32_t code, void *object)
{
    if (code == osRtxErrorStackOverflow) {
        last_words_overflow(osThreadGetName(object));
    }
    last_words_assert("osRtxErrorNotify", code);
}
