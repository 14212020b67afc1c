/* TOPPERS/ASP3 behind the port contract: what is never measured, and what belongs to a target or is made by the kernel's
 * configurator, which is not used: the tables of tasks and objects. They are in RAM, because a benchmark decides while it
 * runs what it creates. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

#include "kernel_int.h"
#include "offset.h"
#include "target_timer.h"

#define TASKS 16u
#define SEMAPHORES 16u
#define QUEUES 16u
#define POOLS 4u
/* With the service timer, of both kinds together. */
#define TIMER_EVENTS 16u
#define FILL 0xA5u
#define SYSTEM_EXCEPTIONS 16u
#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / PORT_TICK_HZ)

/* The tables are part of the board's allowance. */
#define PIECES_ELSEWHERE_BYTES \
    (TASKS * (sizeof(TCB) + sizeof(TINIB) + sizeof(TMEVTN)) + SEMAPHORES * (sizeof(SEMCB) + sizeof(SEMINIB)) + \
     QUEUES * (sizeof(DTQCB) + sizeof(DTQINIB)) + POOLS * (sizeof(MPFCB) + sizeof(MPFINIB)))
#include "bench_pieces.h"

#define IS_AT(structure, member, name) _Static_assert(offsetof(structure, member) == (name), "config/offset.h: " #name)

IS_AT(TCB, p_tinib, TCB_p_tinib);
IS_AT(TCB, tskctxb.sp, TCB_sp);
IS_AT(TCB, tskctxb.pc, TCB_pc);
IS_AT(TCB, tskctxb.stk_top, TCB_stk_top);
IS_AT(TCB, tskctxb.fpu_flag, TCB_fpu_flag);
IS_AT(TINIB, exinf, TINIB_exinf);
IS_AT(TINIB, task, TINIB_task);
IS_AT(TINIB, tskinictxb.stk_bottom, TINIB_stk_bottom);
_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "the tick is out of SysTick's range");

/* What the configurator would write, with the names that the kernel's files know. The headers declare the tables as
 * constant, so they have other names here. */
TINIB port_tinibs[TASKS] __asm__("_kernel_tinib_table");
SEMINIB port_seminibs[SEMAPHORES] __asm__("_kernel_seminib_table");
DTQINIB port_dtqinibs[QUEUES] __asm__("_kernel_dtqinib_table");
MPFINIB port_mpfinibs[POOLS] __asm__("_kernel_mpfinib_table");
ID port_task_order[TASKS] __asm__("_kernel_torder_table");

TCB _kernel_tcb_table[TASKS];
SEMCB _kernel_semcb_table[SEMAPHORES];
DTQCB _kernel_dtqcb_table[QUEUES];
MPFCB _kernel_mpfcb_table[POOLS];
TMEVTN _kernel_tmevt_heap[1 + TASKS + TIMER_EVENTS];

const ID _kernel_tmax_tskid = TMIN_TSKID + TASKS - 1;
const ID _kernel_tmax_semid = TMIN_SEMID + SEMAPHORES - 1;
const ID _kernel_tmax_dtqid = TMIN_DTQID + QUEUES - 1;
const ID _kernel_tmax_mpfid = TMIN_MPFID + POOLS - 1;
const ID _kernel_tmax_flgid = TMIN_FLGID - 1;
const ID _kernel_tmax_mtxid = TMIN_MTXID - 1;
const uint_t _kernel_tnum_inirtn = 0;
const uint_t _kernel_tnum_terrtn = 0;
const INIRTNB _kernel_inirtnb_table[1];
const TERRTNB _kernel_terrtnb_table[1];

extern unsigned char __main_stack_top[];
STK_T *const _kernel_istkpt = (STK_T *)(void *)__main_stack_top;

/* The kernel's code calls all handlers: these vectors lead to it, and it looks the handlers up in the image's vectors
 * (kernel.cmake). The core looks for a table at a multiple of its size, rounded up. */
#if BOARD_IRQ_LINES <= 48
#define VECTOR_ALIGNMENT 256
#elif BOARD_IRQ_LINES <= 112
#define VECTOR_ALIGNMENT 512
#else
#define VECTOR_ALIGNMENT 1024
#endif
void cpu_reset(void);
void cpu_nmi(void);
void cpu_hardfault(void);
void cpu_unexpected(void);
static void (*const kernel_vectors[SYSTEM_EXCEPTIONS + BOARD_IRQ_LINES])(void) __attribute__((aligned(VECTOR_ALIGNMENT))) = {
    [0] = (void (*)(void))(void *)__main_stack_top,
    [1] = cpu_reset,
    [2] = cpu_nmi,
    [3] = cpu_hardfault,
    [4 ... 10] = cpu_unexpected,
    [11] = _kernel_svc_handler,
    [12 ... 13] = cpu_unexpected,
    [14] = _kernel_pendsv_handler,
    [15 ... SYSTEM_EXCEPTIONS + BOARD_IRQ_LINES - 1] = _kernel_core_int_entry,
};

static unsigned task_count, semaphore_count, queue_count, pool_count;
static bool has_started;

volatile HRTCNT port_microseconds;

void isr_systick(void);
void port_initialize_timers(void);

/* The kernel needs nothing before objects and tasks are created. */
void port_prepare(void)
{
}

/* Creates a task with a priority on a core, before the kernel starts, which then activates it. */
bool port_task_create(port_task_t *task, const struct port_task_request *request)
{
    size_t bytes = (request->stack_bytes + 7u) & ~(size_t)7u;
    unsigned char *stack = request->core == 0 && task_count < TASKS ? cut(bytes) : NULL;

    if (stack == NULL) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        stack[i] = FILL;
    }
    port_tinibs[task_count] = (TINIB){
        .tskatr = TA_ACT,
        .exinf = (EXINF)request->argument,
        .task = (TASK)(void (*)(void))request->entry,
        .ipriority = PORT_PRIORITY(request->priority) - TMIN_TPRI,
        .tskinictxb = {.stk_top = (void *)stack, .stk_bottom = (void *)(stack + bytes)},
    };
    *task = (ID)(TMIN_TSKID + task_count);
    task_count++;
    return true;
}

/* Returns the address of a task's control block. */
uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)&_kernel_tcb_table[task - TMIN_TSKID];
}

/* Returns how many bytes of a task's stack were used at most. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes -
           untouched_bytes((void *)port_tinibs[task - TMIN_TSKID].tskinictxb.stk_top, stack_bytes, FILL);
}

/* Returns the number of the present tick. */
uint32_t port_tick_now(void)
{
    return port_microseconds / TSTEP_HRTCNT;
}

/* Creates a semaphore. Tasks wait in the order of their priority. False if there are no more. */
bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    if (semaphore_count == SEMAPHORES) {
        return false;
    }
    port_seminibs[semaphore_count] = (SEMINIB){.sematr = TA_TPRI, .isemcnt = initial, .maxsem = maximum};
    *semaphore = (ID)(TMIN_SEMID + semaphore_count);
    semaphore_count++;
    return !has_started || ini_sem(*semaphore) == E_OK;
}

/* Creates a queue of `length` pointers. False if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    DTQMB *room = queue_count < QUEUES ? cut(length * sizeof *room) : NULL;

    if (room == NULL) {
        return false;
    }
    port_dtqinibs[queue_count] = (DTQINIB){.dtqatr = TA_TPRI, .dtqcnt = length, .p_dtqmb = room};
    *queue = (ID)(TMIN_DTQID + queue_count);
    queue_count++;
    return !has_started || ini_dtq(*queue) == E_OK;
}

/* Creates a mailbox for one pointer. False if it fails. */
bool port_mailbox_create(port_mailbox_t *mailbox)
{
    return port_pointer_queue_create(mailbox, 1);
}

/* Creates a pool of blocks of one size. False if it fails. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    size_t bytes = ROUND_MPF_T(block_bytes);
    void *room = pool_count < POOLS ? cut(blocks * bytes) : NULL;
    MPFMB *management = room != NULL ? cut(blocks * sizeof *management) : NULL;

    if (management == NULL) {
        return false;
    }
    port_mpfinibs[pool_count] =
        (MPFINIB){.mpfatr = TA_TPRI, .blkcnt = blocks, .blksz = bytes, .mpf = room, .p_mpfmb = management};
    *pool = (ID)(TMIN_MPFID + pool_count);
    pool_count++;
    return !has_started || ini_mpf(*pool) == E_OK;
}

/* Prepares the core for the kernel, which calls it first. */
void _kernel_target_initialize(void)
{
    lock_cpu_dsp();
    CPU_SCB_VTOR = (uint32_t)kernel_vectors;
    CPU_SCB_SHPR2 = CPU_SHPR2_SVCALL(0);
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(INT_IPM(TMAX_INTPRI - 1)) | CPU_SHPR3_PENDSV(INT_IPM(TMAX_INTPRI));
    cpu_systick_start(TICK_CYCLES);
}

/* Creates timers. Only the service timer has any (services/timer). */
__attribute__((weak)) void port_initialize_timers(void)
{
}

/* Creates what the tables say. The kernel calls it once. */
void _kernel_initialize_object(void)
{
    has_started = true;
    _kernel_initialize_task();
    _kernel_initialize_semaphore();
    _kernel_initialize_dataqueue();
    _kernel_initialize_mempfix();
    port_initialize_timers();
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    for (unsigned i = 0; i < TASKS; i++) {
        port_task_order[i] = (ID)(TMIN_TSKID + i);
    }
    __asm volatile("cpsid f\n\tcpsie i" ::: "memory");
    sta_ker();
}

/* The tick. */
void isr_systick(void)
{
    port_microseconds += TSTEP_HRTCNT;
    _kernel_signal_time();
}

/* The kernel has ended. No benchmark ends it. */
void _kernel_target_exit(void)
{
    last_words_error(ERROR_KERNEL_START, "the kernel has ended");
}

/* Reports a failed assertion of the kernel (ASP3_BENCH_ASSERT), and ends the run. */
void port_assert_failed(void)
{
    last_words_assert("ASP3", 0);
}
