/* RIOT behind the port contract: what is never measured, and what belongs to a CPU's part of RIOT. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"
#include "bench_pieces.h"

#include "panic.h"

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / PORT_TICK_HZ)

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "the tick is out of SysTick's range");

void isr_systick(void);

/* The clock of the kernel's timers: a tick, and the one at which the next timer is due. */
static volatile uint32_t ticks_now;
static uint32_t tick_due;
static bool is_due;
static bool is_calling;

/* Returns the number of the present tick. */
static uint32_t tick_read(ztimer_clock_t *clock)
{
    (void)clock;
    return ticks_now;
}

/* Calls the kernel for the timers that are due. It looks itself for those that its timers' functions set for this tick. */
static void call_timers(ztimer_clock_t *clock)
{
    is_calling = true;
    ztimer_handler(clock);
    is_calling = false;
}

/* Lets the clock call the kernel in `ticks` ticks. For 0 it calls at once. The kernel has masked interrupts. */
static void tick_set(ztimer_clock_t *clock, uint32_t ticks)
{
    is_due = ticks > 0;
    tick_due = ticks_now + ticks;
    if (!is_due && !is_calling) {
        call_timers(clock);
    }
}

/* Lets the clock call the kernel no more. */
static void tick_cancel(ztimer_clock_t *clock)
{
    (void)clock;
    is_due = false;
}

static const ztimer_ops_t tick_operations = {.set = tick_set, .now = tick_read, .cancel = tick_cancel};
static ztimer_clock_t tick_clock = {.ops = &tick_operations};

ztimer_clock_t *const ZTIMER_MSEC = &tick_clock;

/* The kernel needs nothing before objects and threads are created. */
void port_prepare(void)
{
}

/* Creates a task with a priority on a core, before the kernel starts. The kernel puts the control block on top of the
 * stack. */
bool port_task_create(port_task_t *handle, const struct port_task_request *request)
{
    size_t bytes = request->stack_bytes + sizeof(thread_t);
    char *stack = request->core == 0 ? cut(bytes) : NULL;
    kernel_pid_t thread;

    if (stack == NULL) {
        return false;
    }
    thread = thread_create(stack, (int)bytes, (uint8_t)PORT_PRIORITY(request->priority), THREAD_CREATE_WOUT_YIELD,
                           (thread_task_func_t)(void (*)(void))request->entry, request->argument, request->name);
    if (!pid_is_valid(thread)) {
        return false;
    }
    *handle = thread_get(thread);
    return true;
}

/* The kernel fills a new stack with words that contain their own address. */
uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - measure_stack_free_internal((const char *)task - stack_bytes, stack_bytes);
}

/* Creates a queue of `length` pointers, a power of two. False if it fails. */
bool port_pointer_queue_create(port_pointer_queue_t *queue, uint32_t length)
{
    uint32_t slots = 1;
    msg_t *room;

    while (slots < length) {
        slots *= 2;
    }
    room = cut(slots * sizeof *room);
    if (room == NULL) {
        return false;
    }
    mbox_init(queue, room, slots);
    return true;
}

#if RIOT_BENCH_IDLE_THREAD
/* Runs when no other thread is ready. Does not return. */
__attribute__((__noreturn__)) static void *idle(void *argument)
{
    (void)argument;
    for (;;) {
        cpu_wait_for_interrupt();
    }
}
#endif

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(0) | CPU_SHPR3_PENDSV(CPU_LEAST_URGENT);
#if RIOT_BENCH_IDLE_THREAD
    static _Alignas(8) char idle_stack[THREAD_STACKSIZE_IDLE];

    (void)thread_create(idle_stack, sizeof idle_stack, THREAD_PRIORITY_IDLE, THREAD_CREATE_WOUT_YIELD, idle, NULL, "idle");
#endif
    cpu_systick_start(TICK_CYCLES);
    cpu_switch_context_exit();
}

/* The tick: the clock's interrupt. */
void isr_systick(void)
{
    uint32_t now = ticks_now + 1u;

    ticks_now = now;
    if (is_due && now == tick_due) {
        call_timers(&tick_clock);
    }
    cortexm_isr_end();
}

/* Ends the run with a record of an error that the kernel has found: a stack overflow (SCHED_TEST_STACK), or another one. */
void core_panic(core_panic_t code, const char *message)
{
    if (code == PANIC_STACK_OVERFLOW) {
        last_words_overflow(thread_get_active()->name);
    }
    last_words_assert(message, 0);
}

#if RIOT_BENCH_ASSERT
/* Ends the run with a record of a failed assertion of the kernel. */
void _assert_panic(void)
{
    last_words_assert("RIOT", 0);
}
#endif
