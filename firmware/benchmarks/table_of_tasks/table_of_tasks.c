/* A task set: periodic tasks, released together at one tick, the critical instant; each job is work of a known length.
 *
 * Starts the clock   the tick at which a job's period begins.
 * Ends the clock     the last instruction of its work, task_set_end.
 * Inside by design   the tick's handler, the switches, more urgent jobs, the work.
 * Excluded           nothing.
 *
 * Steps, by every task: 1 sleep until the period begins, 2 work, 3 count.
 *
 * With the parameter `events` 1 a task may as well be released by an interrupt, whose handler gives a semaphore, and its
 * work may be in parts, some of them under a mutex, at a raised priority or with interrupts masked. Who raises the
 * interrupts is not the image's matter: nothing in it does.
 *
 * With `events` 2 a task may as well be released by another one, which at the end of each job gives a semaphore, sends a
 * message or notifies it; task_set_sent then follows that call. The tick may release jobs late, by ticks that a table states.
 *
 * With `events` 3 a row may as well be a periodic timer of the kernel: its function is called by the kernel's timer task, at
 * a priority from the table. The task with the timer's index starts the timer, and then sleeps.
 *
 * With `events` 4 a task may as well release several tasks, by one call after the other, and several tasks may release one
 * by messages. Each message has the index of its sender, and so has R0 at task_set_begin and task_set_end, in its second byte.
 *
 * The tables task_set_rows, task_set_events, task_set_releases, task_set_fans, task_set_timers, task_set_lines and bench_program.priority lie in the image as they are; `rtoslab rta --check` writes a task
 * set into a copy of the image. What stands here is the example that the image runs by itself. */
#include "bench/bench.h"

#if BENCH_PARAM_EVENTS
#include "bench/async.h"
#endif
#if BENCH_PARAM_EVENTS >= 3
#include "bench/timer.h"
#ifndef PORT_TIMER_TASK_PRIORITY
#error "This kernel's port does not set the priority of the timer task, which timers in task sets need."
#endif
#endif

struct task_set_row {
    uint32_t period_ticks; /* 0: there is no such task */
    uint32_t offset_ticks;
    uint32_t rounds; /* of the work's loop, at least 1 */
    uint32_t extra;  /* instructions that do nothing, at most EXTRA_MAX */
};

#define EXTRA_MAX 11
#define STRING_(x) #x
#define STRING(x) STRING_(x)

#define ROWS (BENCH_CORES * BENCH_TASKS_PER_CORE)
#define ON_ONE_CORE (BENCH_CORES == 1)
#define AT(core, index) (BENCH_CORES > 1 ? (core) * BENCH_TASKS_PER_CORE + (index) : (index))

/* Core by core. A task set has each index on one core at most: its priority is the index's. */
extern const volatile struct task_set_row task_set_rows[ROWS];

#define EXAMPLE {2, 0, 400, 0}, {3, 0, 1200, 0}, {7, 1, 3000, 0}
const volatile struct task_set_row task_set_rows[ROWS] = {
    EXAMPLE,
#if BENCH_CORES > 1
    [BENCH_TASKS_PER_CORE] = EXAMPLE,
#endif
};

static uint32_t base_tick;
static unsigned runs;

/* Spins for `rounds` rounds of a loop, and executes the further instructions from `entry` on. The instructions
 * and their place are always the same, so the time depends on rounds and extra alone. All of it is executed
 * once before task_set_begin, so that the memory has nothing to fetch afterwards. At task_set_begin and
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

/* Returns the address at which `work` is entered to execute `extra` further instructions. */
static uintptr_t entry_of(uint32_t extra)
{
    return ((uintptr_t)task_set_extra | 1u) + 2u * (EXTRA_MAX - extra);
}

#if BENCH_PARAM_EVENTS

#define PARTS 6u
#define LINES 3u
#define RESOURCES 4u
/* Work in a handler is told from a task's by its index. */
#define LINE_INDEX 128u

enum around { PLAIN, LOCKED, RAISED, MASKED };

struct task_set_part {
    uint32_t rounds;
    uint8_t extra;
    uint8_t around; /* enum around */
    uint8_t what;   /* LOCKED: which mutex; RAISED: to which priority */
    uint8_t zero;
};

struct task_set_events {
    uint8_t line;  /* 0: the tick releases it; n: the handler of line n - 1 */
    uint8_t parts; /* 0: the row's rounds are all its work */
    uint8_t zero[2];
    struct task_set_part part[PARTS];
};

struct task_set_line {
    uint32_t on;     /* 0: off; otherwise the core that handles it, counted from 1 */
    uint32_t rounds; /* of work in the handler, 0 for none */
    uint32_t extra;
};

extern const volatile struct task_set_events task_set_events[BENCH_TASKS_PER_CORE];
extern const volatile struct task_set_line task_set_lines[LINES];

const volatile struct task_set_events task_set_events[BENCH_TASKS_PER_CORE] = {{.zero = {0}}};
const volatile struct task_set_line task_set_lines[LINES] = {{.on = 0}};

static port_semaphore_t arrived[LINES];
static port_mutex_t resources[RESOURCES];
static bool gives[LINES];

#if BENCH_PARAM_EVENTS == 1
#define WORK_WORD(self) (self)->index
#endif

#if BENCH_PARAM_EVENTS >= 2

#define LATE 8u
#define MESSAGES 8u

enum carrier { NO_CARRIER, SEMAPHORE, MESSAGE, NOTIFICATION };

struct task_set_release {
    uint8_t to;         /* the task that each job releases at its end, counted from 1; 0: none */
    uint8_t to_carrier; /* enum carrier */
    uint8_t carrier;    /* how another task releases this one; NO_CARRIER: none does */
    uint8_t zero;
    uint8_t late[LATE]; /* by how many ticks the tick releases a job late, by the job's number modulo LATE */
};

extern const volatile struct task_set_release task_set_releases[BENCH_TASKS_PER_CORE];

const volatile struct task_set_release task_set_releases[BENCH_TASKS_PER_CORE] = {{.to = 0}};

#if BENCH_PARAM_EVENTS >= 4
#define FAN 3u

struct task_set_fan {
    uint8_t to[FAN]; /* further tasks that each job releases, counted from 1; 0: none */
    uint8_t zero;
};

extern const volatile struct task_set_fan task_set_fans[BENCH_TASKS_PER_CORE];

const volatile struct task_set_fan task_set_fans[BENCH_TASKS_PER_CORE] = {{.zero = 0}};

/* The index of each task, with the number of the task that released its job in the second byte, counted from 1. */
static uint32_t work_words[BENCH_TASKS_PER_CORE];
#define WORK_WORD(self) work_words[(self)->index]
/* A receiver, with the number of its sender in the second byte, counted from 1. */
#define RECEIVER_OF(to, from) ((to) | (((from) + 1u) << 8))
#define INDEX_OF(to) ((to) & 0xffu)
#else
#define WORK_WORD(self) (self)->index
#define RECEIVER_OF(to, from) (to)
#define INDEX_OF(to) (to)
#endif

static port_semaphore_t given[BENCH_TASKS_PER_CORE];
#if KERNEL_SERVICES_QUEUE
static port_queue_t inboxes[BENCH_TASKS_PER_CORE];
#endif
#if KERNEL_SERVICES_NOTIFY
static port_task_t handles[BENCH_TASKS_PER_CORE];
#endif

/* Executed after the call with which a job releases another task. R0 is the index of the calling task. */
static __attribute__((naked, noinline, noclone)) void sent(__attribute__((unused)) uint32_t index)
{
    __asm volatile(".global task_set_sent\n"
                   "task_set_sent:\n"
                   "    bx lr\n");
}

/* Releases another task. False if the kernel refuses. */
static bool send_release(unsigned to, enum carrier carrier)
{
    switch (carrier) {
#if KERNEL_SERVICES_QUEUE
    case MESSAGE: {
        uint32_t message = to;

        return port_queue_send(&inboxes[INDEX_OF(to)], &message);
    }
#endif
#if KERNEL_SERVICES_NOTIFY
    case NOTIFICATION:
        port_notify_give(handles[INDEX_OF(to)]);
        return true;
#endif
    default:
        return port_semaphore_give(&given[INDEX_OF(to)]);
    }
}

#if BENCH_PARAM_EVENTS >= 4
/* Releases the further tasks of a task that releases several. False if the kernel refuses. */
static bool send_to_further(unsigned from, enum carrier carrier)
{
    bool fine = true;

    for (unsigned i = 0; i < FAN && task_set_fans[from].to[i] != 0; i++) {
        fine = send_release(RECEIVER_OF(task_set_fans[from].to[i] - 1u, from), carrier) && fine;
        sent(from);
    }
    return fine;
}
#endif

/* Waits until another task releases this one. False if the kernel refuses. */
static bool await_release(struct bench_task *self, enum carrier carrier)
{
    switch (carrier) {
#if KERNEL_SERVICES_QUEUE
    case MESSAGE: {
        uint32_t message;

#if BENCH_PARAM_EVENTS >= 4
        if (!port_queue_receive(&inboxes[self->index], &message) || INDEX_OF(message) != self->index) {
            return false;
        }
        WORK_WORD(self) = message;
        return true;
#else
        return port_queue_receive(&inboxes[self->index], &message) && message == self->index;
#endif
    }
#endif
#if KERNEL_SERVICES_NOTIFY
    case NOTIFICATION:
        port_notify_take(self->handle);
        return true;
#endif
    default:
        return port_semaphore_take(&given[self->index]);
    }
}

/* Creates what tasks wait for that other tasks release, by task 0 before the gate. Each kind of call is executed once, so
 * that its code has been fetched. */
static bool prepare_releases(struct bench_task *self)
{
    bool fine = true;

    for (unsigned index = 0; fine && index < BENCH_TASKS_PER_CORE; index++) {
        const volatile struct task_set_release *row = &task_set_releases[index];

        fine = row->to <= BENCH_TASKS_PER_CORE;
        switch ((enum carrier)row->carrier) {
        case SEMAPHORE:
            fine = fine && port_semaphore_create(&given[index], 1000, 1) && port_semaphore_take(&given[index]) &&
                   port_semaphore_give(&given[index]) && port_semaphore_take(&given[index]);
            break;
#if KERNEL_SERVICES_QUEUE
        case MESSAGE: {
            uint32_t message = index;

            fine = fine && port_queue_create(&inboxes[index], MESSAGES, sizeof message) &&
                   port_queue_send(&inboxes[index], &message) && port_queue_receive(&inboxes[index], &message);
            break;
        }
#endif
#if KERNEL_SERVICES_NOTIFY
        case NOTIFICATION:
            port_notify_give(self->handle);
            port_notify_take(self->handle);
            break;
#endif
        default:
            fine = fine && row->carrier == NO_CARRIER;
            break;
        }
    }
    sent(LINE_INDEX);
    return fine;
}

#endif

/* Handles an interrupt line of the task set: computes, and wakes the line's task. */
static void handled(unsigned line)
{
    const volatile struct task_set_line *row = &task_set_lines[line];

    port_isr_enter();
    if (row->rounds != 0) {
        work(LINE_INDEX + line, row->rounds, entry_of(row->extra));
    }
    if (gives[line]) {
        port_semaphore_give_from_isr(&arrived[line]);
    }
    port_isr_exit();
}

void BOARD_SOFT_IRQ_HANDLER(void);
void BOARD_ASYNC_IRQ_HANDLER(void);
void BOARD_EDGE_IRQ_HANDLER(void);

/* Handles interrupt line 0, the software interrupt. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    handled(0);
}

/* Handles interrupt line 1, the timer's interrupt. */
void BOARD_ASYNC_IRQ_HANDLER(void)
{
    handled(1);
}

/* Handles interrupt line 2, the input pin's interrupt. */
void BOARD_EDGE_IRQ_HANDLER(void)
{
    handled(2);
}

/* Creates the kernel objects of the task set and uses each once. Returns false if that fails, or if the task set is not
 * valid. The memory then has nothing of their code to fetch for the first time afterwards. Task 0 calls it before the
 * gate, because nobody uses the objects earlier. */
static bool prepare_events(void)
{
#if BENCH_CORES == 1
    static const uint8_t numbers[LINES] = {BOARD_IRQ_SOFT, BOARD_IRQ_ASYNCHRONOUS, BOARD_PINS_IN_IRQ};
#endif
    bool used[RESOURCES] = {false}, fine = true;

    for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
        const volatile struct task_set_events *row = &task_set_events[index];

        fine = fine && row->line <= LINES && row->parts <= PARTS;
        if (fine && row->line != 0) {
            gives[row->line - 1u] = true;
        }
        for (unsigned i = 0; fine && i < row->parts; i++) {
            fine = row->part[i].extra <= EXTRA_MAX;
            if (row->part[i].around == LOCKED && !used[row->part[i].what % RESOURCES]) {
                used[row->part[i].what % RESOURCES] = true;
                fine = fine && port_mutex_create(&resources[row->part[i].what % RESOURCES]) &&
                       port_mutex_lock(&resources[row->part[i].what % RESOURCES]) &&
                       port_mutex_unlock(&resources[row->part[i].what % RESOURCES]);
            }
        }
    }
    for (unsigned line = 0; fine && line < LINES; line++) {
        fine = !gives[line] || port_semaphore_create(&arrived[line], 1000, 0);
#if BENCH_CORES == 1
        if (fine && task_set_lines[line].on) {
            cpu_irq_enable(numbers[line], PORT_ISR_URGENCY + line, BOARD_IRQ_PRIORITY_BITS);
            cpu_irq_pend(numbers[line]);
            fine = !gives[line] || port_semaphore_take(&arrived[line]);
        }
#endif
    }
    return fine;
}

#if BENCH_CORES > 1
static uint8_t objects_created;

/* Enables the interrupt lines of a core and lets each handler run once, by task 0 of the core, after the first core has
 * created the objects. Returns false if that fails. */
static bool enable_lines(unsigned core)
{
    static const uint8_t numbers[LINES] = {BOARD_IRQ_SOFT, BOARD_IRQ_ASYNCHRONOUS, BOARD_PINS_IN_IRQ};
    bool fine = true;

    while (!__atomic_load_n(&objects_created, __ATOMIC_ACQUIRE)) {
        port_sleep_ticks(1);
    }
    for (unsigned line = 0; fine && line < LINES; line++) {
        if (task_set_lines[line].on == 1u + core) {
            cpu_irq_enable(numbers[line], PORT_ISR_URGENCY + line, BOARD_IRQ_PRIORITY_BITS);
            cpu_irq_pend(numbers[line]);
            fine = !gives[line] || port_semaphore_take(&arrived[line]);
        }
    }
    return fine;
}
#endif

/* Executes one part of a job: computes, with a mutex locked where the task set says so. */
static void work_part(struct bench_task *self, const volatile struct task_set_part *part)
{
    uint32_t rounds = part->rounds, what = part->what;
    uintptr_t entry = entry_of(part->extra);

    switch ((enum around)part->around) {
    case LOCKED:
        self->failures += port_mutex_lock(&resources[what % RESOURCES]) ? 0 : 1;
        work(WORK_WORD(self), rounds, entry);
        self->failures += port_mutex_unlock(&resources[what % RESOURCES]) ? 0 : 1;
        break;
#if KERNEL_SERVICES_PRIORITY_SET
    case RAISED:
        port_priority_set(self->handle, PORT_PRIORITY(what));
        work(WORK_WORD(self), rounds, entry);
        port_priority_set(self->handle, PORT_PRIORITY(self->priority));
        break;
#endif
    case MASKED: {
        port_critical_t entered = port_critical_enter();

        work(WORK_WORD(self), rounds, entry);
        port_critical_exit(entered);
        break;
    }
    default:
        work(WORK_WORD(self), rounds, entry);
        break;
    }
}

/* Does the work of a task that an interrupt line or a period releases, and whose jobs have parts. */
static void event_body(struct bench_task *self, const volatile struct task_set_events *row)
{
    uint32_t period = task_set_rows[AT(self->core, self->index)].period_ticks;
    uint32_t tick = port_tick_now(), ticks = base_tick + task_set_rows[AT(self->core, self->index)].offset_ticks - tick;
    unsigned parts = row->parts, line = row->line;
#if BENCH_PARAM_EVENTS >= 2
    const volatile struct task_set_release *release = &task_set_releases[self->index];
    unsigned to = release->to, job = 0;
    enum carrier carrier = (enum carrier)release->carrier, to_carrier = (enum carrier)release->to_carrier;
#endif

    while (bench_running()) {
#if BENCH_PARAM_EVENTS >= 2
        if (carrier != NO_CARRIER) {
            self->failures += await_release(self, carrier) ? 0 : 1;
        } else
#endif
        if (line != 0) {
            self->failures += port_semaphore_take(&arrived[line - 1u]) ? 0 : 1;
        } else {
            port_sleep_until(&tick, ticks);
        }
        for (unsigned i = 0; i < parts; i++) {
            work_part(self, &row->part[i]);
        }
#if BENCH_PARAM_EVENTS >= 2
        if (to != 0) {
            self->failures += send_release(RECEIVER_OF(to - 1u, self->index), to_carrier) ? 0 : 1;
            sent(self->index);
        }
#if BENCH_PARAM_EVENTS >= 4
        self->failures += send_to_further(self->index, to_carrier) ? 0 : 1;
#endif
        bench_count(self);
        ticks = period - release->late[job % LATE];
        job++;
        ticks += release->late[job % LATE];
#else
        bench_count(self);
        ticks = period;
#endif
    }
}

#if BENCH_PARAM_EVENTS >= 3

#define TIMERS 4u

struct task_set_timers {
    uint32_t count;
    uint32_t priority; /* of the timer task */
    struct {
        uint32_t index; /* of its row: the work of its function, and what it releases */
        uint32_t period_ticks;
        uint32_t start_ticks; /* after the tick from which all periods are counted */
    } timer[TIMERS];
};

extern const volatile struct task_set_timers task_set_timers;

const volatile struct task_set_timers task_set_timers = {0};

static port_timer_t timers[TIMERS];
static volatile bool timers_live;

/* Executes a timer's function: computes, and releases a task. */
static void expired(unsigned number)
{
    uint32_t index = task_set_timers.timer[number].index;
    const volatile struct task_set_part *part = &task_set_events[index].part[0];
    unsigned to = task_set_releases[index].to;

    if (!timers_live) {
        return;
    }
    work(index, part->rounds, entry_of(part->extra));
    if (to != 0) {
        (void)send_release(RECEIVER_OF(to - 1u, index), (enum carrier)task_set_releases[index].to_carrier);
        sent(index);
    }
#if BENCH_PARAM_EVENTS >= 4
    (void)send_to_further(index, (enum carrier)task_set_releases[index].to_carrier);
#endif
}

/* Calls the function of timer 0. */
static PORT_TIMER_CALLBACK(expired_0)
{
    expired(0);
}

/* Calls the function of timer 1. */
static PORT_TIMER_CALLBACK(expired_1)
{
    expired(1);
}

/* Calls the function of timer 2. */
static PORT_TIMER_CALLBACK(expired_2)
{
    expired(2);
}

/* Calls the function of timer 3. */
static PORT_TIMER_CALLBACK(expired_3)
{
    expired(3);
}

/* Creates the timers, by task 0 before the gate. Each expires once, so that its code has been fetched. */
static bool prepare_timers(void)
{
    static const port_timer_callback_t functions[TIMERS] = {expired_0, expired_1, expired_2, expired_3};
    bool fine = task_set_timers.count <= TIMERS;

    for (unsigned i = 0; fine && i < task_set_timers.count; i++) {
        uint32_t period = task_set_timers.timer[i].period_ticks;

        fine = task_set_timers.timer[i].index < BENCH_TASKS_PER_CORE &&
               port_timer_create(&timers[i], functions[i], period, true) && port_timer_start(&timers[i]);
        port_sleep_ticks(period + 1u);
        fine = fine && port_timer_stop(&timers[i]);
    }
    if (fine && task_set_timers.count != 0) {
        port_timer_task_priority_set(PORT_PRIORITY(task_set_timers.priority));
    }
    return fine;
}

/* Starts the timer with this index, if there is one, at its tick. */
static void start_timer(struct bench_task *self)
{
    for (unsigned i = 0; i < task_set_timers.count; i++) {
        if (task_set_timers.timer[i].index == self->index) {
            uint32_t tick = port_tick_now();

            timers_live = true;
            port_sleep_until(&tick, base_tick + task_set_timers.timer[i].start_ticks - tick);
            self->failures += port_timer_start(&timers[i]) ? 0 : 1;
        }
    }
}

#endif

#endif

/* The warm-up does nothing: what is to be warm is warmed before. Another core's tasks leave the gate before core 0 says
 * when the first releases are, so they count their runs themselves and wait for the second to be announced. */
#if BENCH_CORES > 1
static uint8_t begun[BENCH_CORES][BENCH_TASKS_PER_CORE];

/* Sets the tick from which all periods are counted, once the bodies may run. */
static void release(unsigned core)
{
    if (core == 0) {
        base_tick = port_tick_now() + BENCH_PARAM_LEAD_TICKS;
        __atomic_store_n(&runs, runs + 1u, __ATOMIC_RELEASE);
    }
}

/* Returns whether this is the warm-up, in which the tasks do nothing. */
static bool warming_up(const struct bench_task *self)
{
    if (++begun[self->core][self->index] < 2) {
        return true;
    }
    while (__atomic_load_n(&runs, __ATOMIC_ACQUIRE) < 2) {
        port_sleep_ticks(1);
    }
    return false;
}
#else
/* Sets the tick from which all periods are counted, once the bodies may run. */
static void release(unsigned core)
{
    (void)core;
    runs++;
    base_tick = port_tick_now() + BENCH_PARAM_LEAD_TICKS;
}

/* Returns whether this is the warm-up, in which the tasks do nothing. */
static bool warming_up(const struct bench_task *self)
{
    (void)self;
    return runs < 2;
}
#endif

/* What the kernel does between cores, or for locks and interrupts, some sets hardly ever ask for. All of the code is read
 * here once: where it fits into the cache that it runs from, nothing is fetched for the first time in a job. */
#if BENCH_CORES > 1 || BENCH_PARAM_EVENTS
#define FETCHES 1
#elif __has_include("bench_rp2040.h") /* its cache is filled by words: the run-through of `work` leaves one out */
#define FETCHES 1
#else
#define FETCHES 0
#endif

#if FETCHES
#define FILL_BYTES 4u

/* A kernel that brings its own linker script has neither, and nothing is read. */
extern const char cpu_vectors[] __attribute__((weak)), __data_load[] __attribute__((weak));

/* Reads all code and constants once, so that the flash cache contains them. */
static void fetch_all(void)
{
    for (uintptr_t at = (uintptr_t)cpu_vectors; at < (uintptr_t)__data_load; at += FILL_BYTES) {
        (void)*(const volatile uint32_t *)at;
    }
}
#endif

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
#if FETCHES
    if (self->core == 0 && self->index == 0) {
        fetch_all();
    }
#endif
#if BENCH_PARAM_EVENTS >= 4
    if (ON_ONE_CORE || task_set_rows[AT(self->core, self->index)].period_ticks != 0) {
        WORK_WORD(self) = self->index;
    }
#endif
#if BENCH_PARAM_EVENTS
    if (self->index == 0 && (ON_ONE_CORE || self->core == 0) && !prepare_events()) {
        return false;
    }
#endif
#if BENCH_PARAM_EVENTS >= 2 && KERNEL_SERVICES_NOTIFY
    if (ON_ONE_CORE || task_set_rows[AT(self->core, self->index)].period_ticks != 0) {
        handles[self->index] = self->handle;
    }
#endif
#if BENCH_PARAM_EVENTS >= 2
    if (self->index == 0 && (ON_ONE_CORE || self->core == 0) && !prepare_releases(self)) {
        return false;
    }
#endif
#if BENCH_PARAM_EVENTS >= 3
    if (self->index == 0 && (ON_ONE_CORE || self->core == 0) && !prepare_timers()) {
        return false;
    }
#endif
#if BENCH_PARAM_EVENTS && BENCH_CORES > 1
    if (self->index == 0 && self->core == 0) {
        __atomic_store_n(&objects_created, 1, __ATOMIC_RELEASE);
    }
    if (self->index == 0 && !enable_lines(self->core)) {
        return false;
    }
#endif
    return task_set_rows[AT(self->core, self->index)].extra <= EXTRA_MAX;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    const volatile struct task_set_row *row = &task_set_rows[AT(self->core, self->index)];
    uint32_t period = row->period_ticks, rounds = row->rounds;
    uintptr_t entry = entry_of(row->extra);
    uint32_t tick, ticks;

    if (warming_up(self)) {
        return;
    }
    if (period == 0) { /* not at the gate, where it would look around now and then */
#if BENCH_PARAM_EVENTS >= 3
        if (ON_ONE_CORE || self->core == 0) { /* the kernel's timer task is on the tick's core */
            start_timer(self);
        }
#endif
        port_sleep_ticks((uint32_t)((uint64_t)BENCH_WINDOW_MS * PORT_TICK_HZ / 1000u));
        return;
    }
#if BENCH_PARAM_EVENTS
    if (task_set_events[self->index].parts != 0) {
        event_body(self, &task_set_events[self->index]);
        return;
    }
#endif
    tick = port_tick_now();
    ticks = base_tick + row->offset_ticks - tick;
    while (bench_running()) {
        port_sleep_until(&tick, ticks);   /* 1 */
        work(self->index, rounds, entry); /* 2 */
        bench_count(self);                /* 3 */
        ticks = period;
    }
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
        static char name[] = "period_0_ticks";

        name[7] = (char)('0' + (char)index);
        bench_check(name, core, task_set_rows[AT(core, index)].period_ticks);
    }
}

const struct bench_program bench_program = {
    .priority = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
    .prepare = prepare,
    .release = release,
    .body = body,
    .report = report,
};
