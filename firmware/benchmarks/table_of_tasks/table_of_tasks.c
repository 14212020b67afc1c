/* A task set: periodic tasks, released together at one tick, the critical instant; each job is work of a known length.
 *
 * Starts the clock   the tick at which a job's period begins.
 * Ends the clock     the last instruction of its work, task_set_end.
 * Inside by design   the tick's handler, the switches, more urgent jobs, the work.
 * Excluded           nothing.
 *
 * Steps, by every task: 1 sleep until the period begins, 2 work, 3 count.
 *
 * The tables task_set_rows and bench_program.priority lie in the image as they are; `rtoslab rta --check` writes a task
 * set into a copy of the image. What stands here is the example that the image runs by itself. */
#include "bench/bench.h"

struct task_set_row {
    uint32_t period_ticks; /* 0: there is no such task */
    uint32_t offset_ticks;
    uint32_t rounds; /* of the work's loop, at least 1 */
    uint32_t extra;  /* instructions that do nothing, at most EXTRA_MAX */
};

#define EXTRA_MAX 11
#define STRING_(x) #x
#define STRING(x) STRING_(x)

extern const volatile struct task_set_row task_set_rows[BENCH_TASKS_PER_CORE];

const volatile struct task_set_row task_set_rows[BENCH_TASKS_PER_CORE] = {{2, 0, 400, 0}, {3, 0, 1200, 0}, {7, 1, 3000, 0}};

static uint32_t base_tick;
static unsigned runs;

/* Always the same instructions at the same place: how long they take depends on rounds and extra alone. All of it is run
 * through once before task_set_begin, so that the memory has nothing to fetch afterwards. At task_set_begin and
 * task_set_end, R0 is the task's index. */
static __attribute__((naked, noinline, noclone, aligned(64))) void work(__attribute__((unused)) uint32_t index,
                                                                        __attribute__((unused)) uint32_t rounds,
                                                                        __attribute__((unused)) uintptr_t entry)
{
    __asm volatile(".syntax unified\n"
                   "    mov   r12, r1\n"
                   "    movs  r1, #1\n"
                   "    movs  r3, #1\n"
                   "    b     1f\n"
                   ".global task_set_begin\n"
                   "task_set_begin:\n"
                   "    mov   r1, r12\n"
                   "    movs  r3, #0\n"
                   "1:  subs  r1, #1\n"
                   "    bne   1b\n"
                   "    bx    r2\n"
                   ".global task_set_extra\n"
                   "task_set_extra:\n"
                   "    .rept " STRING(EXTRA_MAX) "\n"
                   "    nop\n"
                   "    .endr\n"
                   "    cmp   r3, #0\n"
                   "    bne   task_set_begin\n"
                   ".global task_set_end\n"
                   "task_set_end:\n"
                   "    bx    lr\n");
}

extern char task_set_extra[];

static void release(unsigned core)
{
    (void)core;
    runs++;
    base_tick = port_tick_now() + BENCH_PARAM_LEAD_TICKS;
}

static bool prepare(struct bench_task *self)
{
    return task_set_rows[self->index].extra <= EXTRA_MAX;
}

static void body(struct bench_task *self)
{
    const volatile struct task_set_row *row = &task_set_rows[self->index];
    uint32_t period = row->period_ticks, rounds = row->rounds;
    uintptr_t entry = ((uintptr_t)task_set_extra | 1u) + 2u * (EXTRA_MAX - row->extra);
    uint32_t tick, ticks;

    if (runs < 2) { /* the warm-up: what is to be warm is warmed in work() */
        return;
    }
    if (period == 0) { /* not at the gate, where it would look around now and then */
        port_sleep_ticks((uint32_t)((uint64_t)BENCH_WINDOW_MS * PORT_TICK_HZ / 1000u));
        return;
    }
    tick = port_tick_now();
    ticks = base_tick + row->offset_ticks - tick;
    while (bench_running()) {
        port_sleep_until(&tick, ticks);   /* 1 */
        work(self->index, rounds, entry); /* 2 */
        bench_count(self);                /* 3 */
        ticks = period;
    }
}

static void report(unsigned core)
{
    for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
        static char name[] = "period_0_ticks";

        name[7] = (char)('0' + (char)index);
        bench_check(name, core, task_set_rows[index].period_ticks);
    }
}

const struct bench_program bench_program = {
    .priority = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
    .prepare = prepare,
    .release = release,
    .body = body,
    .report = report,
};
