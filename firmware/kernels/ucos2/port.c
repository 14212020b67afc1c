/* µC/OS-II behind the port contract: what is never measured. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

/* The kernel's own tables. */
#define PIECES_ELSEWHERE_BYTES                                                                                                \
    (sizeof OSTCBTbl + sizeof OSTCBPrioTbl + sizeof OSEventTbl + sizeof OSFlagTbl + sizeof OSMemTbl + sizeof OSQTbl +        \
     sizeof OSTaskIdleStk)
#include "bench_pieces.h"

#define SYST_RELOAD_COUNTS (BOARD_CLOCK_SYS_HZ / OS_TICKS_PER_SEC)

_Static_assert(SYST_RELOAD_COUNTS <= 0x1000000u && SYST_RELOAD_COUNTS > 1000u, "OS_TICKS_PER_SEC is out of SysTick's range");

static INT8U next_ceiling;

/* Prepares the kernel, before any object or task is created. */
void port_prepare(void)
{
    OSInit();
}

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *task, const struct port_task_request *request)
{
    OS_STK words = request->stack_bytes / sizeof(OS_STK);
    OS_STK *stack = cut(request->stack_bytes);
    INT8U priority = (INT8U)PORT_PRIORITY(request->priority);

    if (stack == NULL || request->core != 0) {
        return false;
    }
    *task = priority;
    /* The kernel keeps no name; what belongs to the application in the control block points to it. */
    return OSTaskCreateExt(request->entry, request->argument, &stack[words - 1], priority, priority, stack, words,
                           (void *)request->name, OS_TASK_OPT_STK_CHK | OS_TASK_OPT_STK_CLR) == OS_ERR_NONE;
}

/* Returns how many bytes of a task's stack were used at most. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    OS_STK_DATA found;

    return OSTaskStkChk(task, &found) == OS_ERR_NONE ? found.OSUsed * (uint32_t)sizeof(OS_STK) : stack_bytes;
}

/* Creates a mutex. Returns false if it fails. A task that has a mutex for which a more urgent task waits runs at the
 * mutex's own priority, which no other task or mutex has. */
bool port_mutex_create(port_mutex_t *mutex)
{
    INT8U error;

    if (next_ceiling == OS_BENCH_CEILINGS) {
        return false;
    }
    *mutex = OSMutexCreate(next_ceiling++, &error);
    return error == OS_ERR_NONE;
}

/* Creates a queue of `length` pointers. Returns false if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    void **room = cut(length * sizeof *room);

    if (room == NULL || length > (INT16U)-1) {
        return false;
    }
    *queue = OSQCreate(room, (INT16U)length);
    return *queue != NULL;
}

/* Creates a pool of blocks of one size. Returns false if it fails. A free block contains the address of the next one,
 * so blocks are aligned to that. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    uint32_t bytes = (block_bytes + (uint32_t)sizeof(void *) - 1u) & ~((uint32_t)sizeof(void *) - 1u);
    void *room = cut(blocks * bytes);
    INT8U error;

    if (room == NULL) {
        return false;
    }
    *pool = OSMemCreate(room, blocks, bytes, &error);
    return error == OS_ERR_NONE;
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    OS_CPU_ExceptStkBase = *(OS_STK **)(uintptr_t)CPU_SCB_VTOR;
    CPU_SYST_CVR = 0;
    OS_CPU_SysTickInit(SYST_RELOAD_COUNTS);
    OSStart();
}
