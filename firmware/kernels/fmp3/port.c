/* TOPPERS/FMP3 behind the port contract: what is never measured, and what belongs to a target or is made by the kernel's
 * configurator, which is not used: the tables of tasks and objects. Those with facts of tasks and objects are in RAM, because
 * a benchmark decides while it runs what it creates. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

#include "kernel_int.h"
#include "offset.h"
#include "target_ipi.h"
#include "target_timer.h"

#define TASKS (16u * TNUM_PRCID)
#define SEMAPHORES 16u
#define QUEUES 16u
#define POOLS 4u
/* With the service timer, of both kinds together. */
#define TIMER_EVENTS 16u
#define FILL 0xA5u
#define SYSTEM_EXCEPTIONS 16u
#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / PORT_TICK_HZ)
#define IDLE_STACK_WORDS (DEFAULT_IDSTKSZ / sizeof(STK_T))

/* The tables are part of the board's allowance. */
#define PIECES_ELSEWHERE_BYTES \
    (TASKS * (sizeof(TCB) + sizeof(TINIB) + TNUM_PRCID * sizeof(TMEVTN)) + SEMAPHORES * (sizeof(SEMCB) + sizeof(SEMINIB)) + \
     QUEUES * (sizeof(DTQCB) + sizeof(DTQINIB)) + POOLS * (sizeof(MPFCB) + sizeof(MPFINIB)))
#include "bench_pieces.h"

#define IS_AT(structure, member, name) _Static_assert(offsetof(structure, member) == (name), "config/offset.h: " #name)

IS_AT(TCB, p_tinib, TCB_p_tinib);
IS_AT(TCB, tskctxb.sp, TCB_sp);
IS_AT(TCB, tskctxb.pc, TCB_pc);
IS_AT(TINIB, exinf, TINIB_exinf);
IS_AT(TINIB, task, TINIB_task);
IS_AT(PCB, target_pcb, PCB_target_pcb);
IS_AT(PCB, target_pcb.lock_flag, PCB_lock_flag);
IS_AT(PCB, target_pcb.current_iipm_enable_mask, PCB_current_iipm_enable_mask);
IS_AT(PCB, target_pcb.iipm_enable_masks, PCB_iipm_enable_masks);
IS_AT(PCB, target_pcb.idstkpt, PCB_idstkpt);
IS_AT(PCB, target_pcb.idstktop, PCB_idstktop);
IS_AT(PCB, p_runtsk, PCB_p_runtsk);
IS_AT(PCB, p_schedtsk, PCB_p_schedtsk);
_Static_assert(PCB_p_runtsk == 40 && sizeof(PCB) == 196, "kernel.toml: the place of the running task in port_processors");
_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "the tick is out of SysTick's range");
_Static_assert(TNUM_PRCID <= 2, "the tables below are for one processor or two");

/* Addresses of the elements of a table, from an index on. */
#define FOUR_OF(table, from) &table[from], &table[(from) + 1], &table[(from) + 2], &table[(from) + 3]
#define SIXTEEN_OF(table, from) \
    FOUR_OF(table, from), FOUR_OF(table, (from) + 4), FOUR_OF(table, (from) + 8), FOUR_OF(table, (from) + 12)

/* What the configurator would write, with the names that the kernel's files know. The headers declare some tables as
 * constant, so they have other names here. */
TINIB port_tinibs[TASKS] __asm__("_kernel_tinib_table");
SEMINIB port_seminibs[SEMAPHORES] __asm__("_kernel_seminib_table");
DTQINIB port_dtqinibs[QUEUES] __asm__("_kernel_dtqinib_table");
MPFINIB port_mpfinibs[POOLS] __asm__("_kernel_mpfinib_table");
ID port_task_order[TASKS] __asm__("_kernel_torder_table");

PCB port_processors[TNUM_PRCID];
static TCB tasks[TASKS];
static SEMCB semaphores[SEMAPHORES];
static DTQCB queues[QUEUES];
static MPFCB pools[POOLS];
static TMEVTN time_events[TNUM_PRCID][1 + TASKS + TIMER_EVENTS];
static TEVTCB time_event_controls[TNUM_PRCID];

#if TNUM_PRCID > 1
PCB *const _kernel_p_pcb_table[TNUM_PRCID] = {&port_processors[0], &port_processors[1]};
TCB *const _kernel_p_tcb_table[TASKS] = {SIXTEEN_OF(tasks, 0), SIXTEEN_OF(tasks, 16)};
TMEVTN *const _kernel_p_tmevt_heap_table[TNUM_PRCID] = {time_events[0], time_events[1]};
TEVTCB *const _kernel_p_tevtcb_table[TNUM_PRCID] = {&time_event_controls[0], &time_event_controls[1]};
#else
PCB *const _kernel_p_pcb_table[TNUM_PRCID] = {&port_processors[0]};
TCB *const _kernel_p_tcb_table[TASKS] = {SIXTEEN_OF(tasks, 0)};
TMEVTN *const _kernel_p_tmevt_heap_table[TNUM_PRCID] = {time_events[0]};
TEVTCB *const _kernel_p_tevtcb_table[TNUM_PRCID] = {&time_event_controls[0]};
#endif
SEMCB *const _kernel_p_semcb_table[SEMAPHORES] = {SIXTEEN_OF(semaphores, 0)};
DTQCB *const _kernel_p_dtqcb_table[QUEUES] = {SIXTEEN_OF(queues, 0)};
MPFCB *const _kernel_p_mpfcb_table[POOLS] = {FOUR_OF(pools, 0)};

const ID _kernel_tmax_tskid = TMIN_TSKID + TASKS - 1;
const ID _kernel_tmax_semid = TMIN_SEMID + SEMAPHORES - 1;
const ID _kernel_tmax_dtqid = TMIN_DTQID + QUEUES - 1;
const ID _kernel_tmax_mpfid = TMIN_MPFID + POOLS - 1;
const ID _kernel_tmax_flgid = TMIN_FLGID - 1;
const ID _kernel_tmax_mtxid = TMIN_MTXID - 1;
const ID _kernel_tmax_spnid = TMIN_SPNID - 1;
/* Tasks of no priority have subordinate priorities. */
const uint16_t _kernel_subprio_primap = 0;
bool_t _kernel_kerflg_table[TNUM_PRCID];

/* Each processor prepares the interrupt that the other one sends. */
static const INIRTNB start_of_prc1 = {.inirtn = (INIRTN)chip_ipi_initialize, .exinf = PRC1};
static const INIRTNB start_of_prc2 = {.inirtn = (INIRTN)chip_ipi_initialize, .exinf = PRC2};
const INIRTNBB _kernel_inirtnbb_table[3] = {{0, NULL}, {1, &start_of_prc1}, {1, &start_of_prc2}};
const TERRTNBB _kernel_terrtnbb_table[3];

extern unsigned char __main_stack_top[], __core1_stack_top[];
static STK_T idle_stacks[TNUM_PRCID][IDLE_STACK_WORDS];
#if TNUM_PRCID > 1
STK_T *const _kernel_istkpt_table[TNUM_PRCID] = {(STK_T *)(void *)__main_stack_top, (STK_T *)(void *)__core1_stack_top};
STK_T *const _kernel_idstkpt_table[TNUM_PRCID] = {&idle_stacks[0][IDLE_STACK_WORDS], &idle_stacks[1][IDLE_STACK_WORDS]};
#else
STK_T *const _kernel_istkpt_table[TNUM_PRCID] = {(STK_T *)(void *)__main_stack_top};
STK_T *const _kernel_idstkpt_table[TNUM_PRCID] = {&idle_stacks[0][IDLE_STACK_WORDS]};
#endif

/* The interrupt lines. The kernel masks and restores all lines that are configured here, and no others, so those of the
 * benchmarks are here. The board's asynchronous interrupt reaches both cores, so only the first one has it. SysTick cannot
 * be masked with the lines, so it is not the kernel's: its handler requests a line without a source in the chip. */
#define TICK_LINE 27u
#define PRIORITY_OF_BENCHMARKS TMIN_INTPRI
#define PRIORITY_OF_TICK (TMAX_INTPRI - 1)
_Static_assert(TICK_LINE != BOARD_IRQ_SOFT, "the line for ticks is the benchmarks'");

#define INTNO_OF(processor, line) (((INTNO)(processor) << 16) | ((line) + SYSTEM_EXCEPTIONS))
#define LINE_OF(processor, line, priority) \
    {INTNO_OF(processor, line), TA_ENAINT, (priority), (processor), 1u << ((processor) - PRC1)}
#define BIT(line) (1u << (line))
const INTINIB _kernel_intinib_table[] = {
    LINE_OF(PRC1, BOARD_IRQ_SOFT, PRIORITY_OF_BENCHMARKS),
    LINE_OF(PRC1, BOARD_IRQ_ASYNCHRONOUS, PRIORITY_OF_BENCHMARKS),
    LINE_OF(PRC1, BOARD_PINS_IN_IRQ, PRIORITY_OF_BENCHMARKS),
    LINE_OF(PRC1, TICK_LINE, PRIORITY_OF_TICK),
#if TNUM_PRCID > 1
    LINE_OF(PRC1, RP2040_SIO_PROC0_IRQn, INTPRI_IPI),
    LINE_OF(PRC2, RP2040_SIO_PROC1_IRQn, INTPRI_IPI),
    LINE_OF(PRC2, BOARD_IRQ_SOFT, PRIORITY_OF_BENCHMARKS),
    LINE_OF(PRC2, BOARD_PINS_IN_IRQ, PRIORITY_OF_BENCHMARKS),
#endif
};
const uint_t _kernel_tnum_cfg_intno = sizeof _kernel_intinib_table / sizeof _kernel_intinib_table[0];
const uint_t _kernel_tnum_def_inhno = 0;
const INHINIB _kernel_inhinib_table[1];

/* For each priority of the mask, from the most urgent one to none: the lines that it leaves enabled. */
_Static_assert(TMIN_INTPRI == -3 && PRIORITY_OF_TICK == -2 && INTPRI_IPI == -2, "the tables below are in this order");
#define BENCHMARKS_OF_PRC1 (BIT(BOARD_IRQ_SOFT) | BIT(BOARD_IRQ_ASYNCHRONOUS) | BIT(BOARD_PINS_IN_IRQ))
#define KERNEL_OF_PRC1 (BIT(TICK_LINE) | BIT(RP2040_SIO_PROC0_IRQn))
static const uint32_t enabled_of_prc1[] = {0, 0, BENCHMARKS_OF_PRC1, BENCHMARKS_OF_PRC1 | KERNEL_OF_PRC1,
                                           BENCHMARKS_OF_PRC1 | KERNEL_OF_PRC1};
#if TNUM_PRCID > 1
#define BENCHMARKS_OF_PRC2 (BIT(BOARD_IRQ_SOFT) | BIT(BOARD_PINS_IN_IRQ))
static const uint32_t enabled_of_prc2[] = {0, 0, BENCHMARKS_OF_PRC2, BENCHMARKS_OF_PRC2 | BIT(RP2040_SIO_PROC1_IRQn),
                                           BENCHMARKS_OF_PRC2 | BIT(RP2040_SIO_PROC1_IRQn)};
const uint32_t *_kernel_p_iipm_enable_irq_tbl[TNUM_PRCID] = {enabled_of_prc1, enabled_of_prc2};
#else
const uint32_t *_kernel_p_iipm_enable_irq_tbl[TNUM_PRCID] = {enabled_of_prc1};
#endif

/* The kernel's code calls all handlers: the vectors lead to it, and it looks the handlers up in the second table. Both are
 * for all processors. */
void cpu_reset(void);
void cpu_nmi(void);
void cpu_hardfault(void);
void cpu_unexpected(void);
void isr_systick(void);
typedef void (*handler_t)(void);
static const handler_t kernel_vectors[SYSTEM_EXCEPTIONS + BOARD_IRQ_LINES] __attribute__((aligned(256))) = {
    [0] = (handler_t)(void *)__main_stack_top,
    [1] = cpu_reset,
    [2] = cpu_nmi,
    [3] = cpu_hardfault,
    [4 ... 10] = cpu_unexpected,
    [11] = _kernel_svc_handler,
    [12 ... 13] = cpu_unexpected,
    [14] = _kernel_pendsv_handler,
    [15] = isr_systick,
    [SYSTEM_EXCEPTIONS ... SYSTEM_EXCEPTIONS + BOARD_IRQ_LINES - 1] = _kernel_core_int_entry,
};
extern const handler_t cpu_vectors[];
#if TNUM_PRCID > 1
const handler_t *const port_vectors[TNUM_PRCID] __asm__("_kernel_p_vector_table") = {kernel_vectors, kernel_vectors};
const handler_t *const port_handlers[TNUM_PRCID] __asm__("_kernel_p_exc_tbl") = {cpu_vectors, cpu_vectors};
#else
const handler_t *const port_vectors[TNUM_PRCID] __asm__("_kernel_p_vector_table") = {kernel_vectors};
const handler_t *const port_handlers[TNUM_PRCID] __asm__("_kernel_p_exc_tbl") = {cpu_vectors};
#endif

static unsigned task_count, semaphore_count, queue_count, pool_count;
static bool has_started;

volatile HRTCNT port_microseconds;
static volatile uint32_t ticks;

void port_initialize_timers(PCB *processor);

/* The kernel needs nothing before objects and tasks are created. */
void port_prepare(void)
{
}

/* Creates a task with a priority on a core, before the kernel starts, which then activates it. The task may be moved to each
 * other core, but only by a call. */
bool port_task_create(port_task_t *task, const struct port_task_request *request)
{
    size_t bytes = (request->stack_bytes + 7u) & ~(size_t)7u;
    unsigned char *stack = request->core < TNUM_PRCID && task_count < TASKS ? cut(bytes) : NULL;

    if (stack == NULL) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        stack[i] = FILL;
    }
    port_tinibs[task_count] = (TINIB){
        .tskatr = TA_ACT,
        .exinf = (EXINF)request->argument,
        .task = (TASK)(handler_t)request->entry,
        .ipriority = PORT_PRIORITY(request->priority) - TMIN_TPRI,
        .tskinictxb = {.stk_top = (void *)stack, .stk_bottom = (void *)(stack + bytes)},
        .iprcid = (ID)(PRC1 + request->core),
        .affinity = (1u << TNUM_PRCID) - 1u,
    };
    *task = (ID)(TMIN_TSKID + task_count);
    task_count++;
    return true;
}

/* Returns the address of a task's control block. */
uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)&tasks[task - TMIN_TSKID];
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
    return ticks;
}

/* Takes the next free entry of a table, which tasks of all cores may do at once. Returns its index, or `size` if there is
 * none. */
static unsigned next_entry(unsigned *count, unsigned size)
{
    port_critical_t entered = port_critical_enter();
    unsigned index = *count;

    if (index < size) {
        *count = index + 1u;
    }
    port_critical_exit(entered);
    return index;
}

/* Returns memory for an object, which tasks of all cores may ask for at once, or NULL if it is used up. */
static void *cut_alone(size_t bytes)
{
    port_critical_t entered = port_critical_enter();
    void *piece = cut(bytes);

    port_critical_exit(entered);
    return piece;
}

/* Creates a semaphore. Tasks wait in the order of their priority. False if there are no more. */
bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    unsigned index = next_entry(&semaphore_count, SEMAPHORES);

    if (index == SEMAPHORES) {
        return false;
    }
    port_seminibs[index] = (SEMINIB){.sematr = TA_TPRI, .isemcnt = initial, .maxsem = maximum};
    *semaphore = (ID)(TMIN_SEMID + index);
    return !has_started || ini_sem(*semaphore) == E_OK;
}

/* Creates a queue of `length` pointers. False if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    unsigned index = next_entry(&queue_count, QUEUES);
    DTQMB *room = index < QUEUES ? cut_alone(length * sizeof *room) : NULL;

    if (room == NULL) {
        return false;
    }
    port_dtqinibs[index] = (DTQINIB){.dtqatr = TA_TPRI, .dtqcnt = length, .p_dtqmb = room};
    *queue = (ID)(TMIN_DTQID + index);
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
    unsigned index = next_entry(&pool_count, POOLS);
    void *room = index < POOLS ? cut_alone(blocks * bytes) : NULL;
    MPFMB *management = room != NULL ? cut_alone(blocks * sizeof *management) : NULL;

    if (management == NULL) {
        return false;
    }
    port_mpfinibs[index] =
        (MPFINIB){.mpfatr = TA_TPRI, .blkcnt = blocks, .blksz = bytes, .mpf = room, .p_mpfmb = management};
    *pool = (ID)(TMIN_MPFID + index);
    return !has_started || ini_mpf(*pool) == E_OK;
}

/* Prepares a core for the kernel, which calls it first. */
void _kernel_target_initialize(PCB *processor)
{
    _kernel_core_initialize(processor);
    if (processor->prcid == PRC1) {
        CPU_SCB_SHPR3 = (CPU_SCB_SHPR3 & ~CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT)) | CPU_SHPR3_SYSTICK(0);
        cpu_systick_start(TICK_CYCLES);
    }
}

/* Creates timers. Only the service timer has any (services/timer). */
__attribute__((weak)) void port_initialize_timers(PCB *processor)
{
    (void)processor;
}

/* Creates what the tables say. The kernel calls it once on each core. */
void _kernel_initialize_object(PCB *processor)
{
    has_started = true;
    _kernel_initialize_task(processor);
    _kernel_initialize_semaphore(processor);
    _kernel_initialize_dataqueue(processor);
    _kernel_initialize_mempfix(processor);
    port_initialize_timers(processor);
    _kernel_initialize_interrupt(processor);
}

#if TNUM_PRCID > 1
/* A core that never answers (a board or a virtual board with one) must end in a record, not in silence. */
#define ANSWER_POLL_LIMIT 1000000u
#define HANDSHAKE_LIMIT 16u

/* Starts the kernel on the second core. */
static void start_on_core1(void)
{
    __asm volatile("cpsid i" ::: "memory");
    sta_ker();
}

/* Reads a word from the other core. Returns false if there is none. */
static bool receive(uint32_t *word)
{
    for (uint32_t poll = 0; poll < ANSWER_POLL_LIMIT; poll++) {
        if ((sil_rew_mem(RP2040_SIO_FIFO_ST) & RP2040_SIO_FIFO_ST_VLD) != 0) {
            *word = sil_rew_mem(RP2040_SIO_FIFO_RD);
            return true;
        }
    }
    return false;
}

/* Drops all words from the other core. */
static void drain(void)
{
    while ((sil_rew_mem(RP2040_SIO_FIFO_ST) & RP2040_SIO_FIFO_ST_VLD) != 0) {
        (void)sil_rew_mem(RP2040_SIO_FIFO_RD);
    }
}

/* Resets core 1, and starts it by the handshake of its boot ROM, which echoes each word. */
static void launch_core1(void)
{
    const uint32_t words[] = {0, 0, 1, (uint32_t)kernel_vectors, (uint32_t)__core1_stack_top, (uint32_t)start_on_core1};
    const unsigned count = sizeof words / sizeof words[0];
    unsigned at = 0;
    uint32_t greeting;

    sil_orw(RP2040_PSM_FRCE_OFF, RP2040_PSM_PROC1);
    while ((sil_rew_mem(RP2040_PSM_FRCE_OFF) & RP2040_PSM_PROC1) == 0) {
    }
    drain();
    sil_clrw(RP2040_PSM_FRCE_OFF, RP2040_PSM_PROC1);
    if (!receive(&greeting) || greeting != 0) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not come out of reset");
    }
    /* An echo that does not fit means that the boot ROM has started over, so the handshake does. */
    for (unsigned sent = 0; at < count && sent < count * HANDSHAKE_LIMIT; sent++) {
        uint32_t echo;

        if (words[at] == 0) {
            drain();
            __asm volatile("sev");
        }
        sil_wrw_mem(RP2040_SIO_FIFO_WR, words[at]);
        __asm volatile("sev");
        if (!receive(&echo)) {
            break;
        }
        at = echo == words[at] ? at + 1u : 0;
    }
    if (at < count) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not answer the launch handshake");
    }
}
#endif

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    for (unsigned i = 0; i < TASKS; i++) {
        port_task_order[i] = (ID)(TMIN_TSKID + i);
    }
    __asm volatile("cpsid i" ::: "memory");
#if TNUM_PRCID > 1
    launch_core1();
#endif
    sta_ker();
}

/* The tick, whose handler is not the kernel's: it counts, and requests the kernel's interrupt for time events, on the second
 * core by a message. If eight messages wait there, the next tick will do. */
void isr_systick(void)
{
    ticks = ticks + 1u;
    port_microseconds += TSTEP_HRTCNT;
    CPU_NVIC_ISPR(0) = BIT(TICK_LINE);
#if TNUM_PRCID > 1
    if ((sil_rew_mem(RP2040_SIO_FIFO_ST) & RP2040_SIO_FIFO_ST_RDY) != 0) {
        request_set_hrt_event(PRC2);
    }
#endif
}

void isr_irq27(void);
/* Handles the time events that are due. */
void isr_irq27(void)
{
    _kernel_signal_time();
}

#if TNUM_PRCID > 1
void _kernel_set_hrt_event_handler(void);
/* The second core's tick: the kernel's handler of messages calls this for the message that isr_systick sends. */
void _kernel_set_hrt_event_handler(void)
{
    _kernel_signal_time();
}

void isr_irq15(void);
void isr_irq16(void);
/* Does what the second core asks the first one for. */
void isr_irq15(void)
{
    _kernel_ipi_irq_handler();
}

/* Does what the first core asks the second one for. */
void isr_irq16(void)
{
    _kernel_ipi_irq_handler();
}
#endif

/* The kernel has ended. No benchmark ends it. */
void _kernel_target_exit(void)
{
    last_words_error(ERROR_KERNEL_START, "the kernel has ended");
}

/* Reports a failed assertion of the kernel (FMP3_BENCH_ASSERT), and ends the run. */
void port_assert_failed(void)
{
    last_words_assert("FMP3", 0);
}
