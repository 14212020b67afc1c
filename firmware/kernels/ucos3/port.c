/* µC/OS-III behind the port contract: what is never measured. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

/* The kernel's own tables; a task's control block comes from us. */
#define PIECES_ELSEWHERE_BYTES (sizeof OSCfg_MsgPool + sizeof OSCfg_IdleTaskStk + sizeof OSRdyList)
#include "bench_pieces.h"

#define SYST_RELOAD_COUNTS (BOARD_CLOCK_SYS_HZ / OS_CFG_TICK_RATE_HZ)
/* Ticks that equal tasks run before the next one's turn: a run is far shorter. */
#define LONGEST_QUANTUM ((OS_TICK)-1)

_Static_assert(SYST_RELOAD_COUNTS <= 0x1000000u && SYST_RELOAD_COUNTS > 1000u, "OS_CFG_TICK_RATE_HZ is out of SysTick's range");

/* Ends the run with an error if a call of the kernel failed. */
static void must(OS_ERR error)
{
    if (error != OS_ERR_NONE) {
        last_words_error(ERROR_NO_MEMORY, "the kernel refuses its own configuration");
    }
}

/* Prepares the kernel, before any object or task is created. */
void port_prepare(void)
{
    OS_ERR error;

    CPU_Init();
    OSInit(&error);
    must(error);
    OSSchedRoundRobinCfg(OS_TRUE, LONGEST_QUANTUM, &error);
    must(error);
}

/* Creates a task with a priority on a core, before the kernel starts. Returns false if it fails. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    OS_TCB *made = cut(sizeof *made);
    CPU_STK *stack = cut(request->stack_bytes);
    OS_ERR error;

    if (made == NULL || stack == NULL || request->core != 0) {
        return false;
    }
    *handle = made;
    /* Without debugging the kernel keeps no name; what belongs to the application in the control block points to it. */
    OSTaskCreate(made, (CPU_CHAR *)request->name, request->entry, request->argument, (OS_PRIO)PORT_PRIORITY(request->priority),
                 stack, 0, request->stack_bytes / sizeof *stack, 0, 0, (void *)request->name,
                 OS_OPT_TASK_STK_CHK | OS_OPT_TASK_STK_CLR, &error);
    return error == OS_ERR_NONE;
}

/* Returns how many bytes of a task's stack were used at most. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    CPU_STK_SIZE unused, used;
    OS_ERR error;

    OSTaskStkChk(task, &unused, &used, &error);
    return error == OS_ERR_NONE ? used * (uint32_t)sizeof(CPU_STK) : stack_bytes;
}

/* Creates a pool of blocks of one size. Returns false if it fails. A free block contains the address of the next one,
 * so blocks are aligned to that. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    uint32_t bytes = (block_bytes + (uint32_t)sizeof(void *) - 1u) & ~((uint32_t)sizeof(void *) - 1u);
    void *room = cut(blocks * bytes);
    OS_ERR error;

    if (room == NULL || blocks > (OS_MEM_QTY)-1 || bytes > (OS_MEM_SIZE)-1) {
        return false;
    }
    OSMemCreate(pool, (CPU_CHAR *)"", room, (OS_MEM_QTY)blocks, (OS_MEM_SIZE)bytes, &error);
    return error == OS_ERR_NONE;
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    OS_ERR error;

    OS_CPU_ExceptStkBase = *(CPU_STK **)(uintptr_t)CPU_SCB_VTOR;
    CPU_SYST_CVR = 0;
    OS_CPU_SysTickInit(SYST_RELOAD_COUNTS);
    OSStart(&error);
}
