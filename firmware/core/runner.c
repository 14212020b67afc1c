/* One benchmark, one boot: makes the tasks, leads them through warm-up and window, sends the records. */
#include "bench/bench.h"
#include "core.h"

#define TASK_STACK_BYTES BENCH_STACK_BYTES
#define CONTROL_STACK_BYTES BENCH_CONTROL_STACK_BYTES
#define NAME_CHARS 8u

/* The window is agreed by tick, so it is a whole number of them: a slow tick needs a longer window or warm-up. */
#define TICKS_OF_MS(ms) ((uint32_t)((uint64_t)(ms) * PORT_TICK_HZ / 1000u))

_Static_assert(TICKS_OF_MS(BENCH_WINDOW_MS) >= 1 && TICKS_OF_MS(BENCH_WARMUP_MS) >= 1,
               "WINDOW_MS and WARMUP_MS must last one tick or longer");
_Static_assert(BENCH_CORES <= 10 && BENCH_TASKS_PER_CORE <= 10, "task names hold one digit each");

volatile uint32_t bench_run;

static struct bench_task tasks[BENCH_CORES][BENCH_TASKS_PER_CORE];
static char names[BENCH_CORES][BENCH_TASKS_PER_CORE][NAME_CHARS];
static port_task_t control;

struct bench_task *bench_task(unsigned core, unsigned index)
{
    return &tasks[core][index];
}

noreturn void bench_error(enum bench_error_code code, const char *detail)
{
    last_words_error(code, detail);
}

void bench_check(const char *name, unsigned core, uint32_t value)
{
    wire_begin(&output, "check");
    wire_text(&output, "name", name);
    wire_number(&output, "core", core);
    wire_number(&output, "value", value);
    output_end();
}

static unsigned slot_of(const struct bench_task *task)
{
    return task->core * BENCH_TASKS_PER_CORE + task->index;
}

static void task_entry(void *argument)
{
    struct bench_task *self = argument;

    if (port_core() != self->core) {
        bench_error(ERROR_WRONG_CORE, "a task runs on another core than the one it was pinned to");
    }
    if (self->core != 0 && self->index == 0) {
        ruler_measure(self->core);
    }
    if (!bench_program.prepare(self)) {
        bench_error(ERROR_PREPARE, names[self->core][self->index]);
    }
    gate_arrive(slot_of(self));
    bench_program.body(self);
    gate_arrive(slot_of(self));
    bench_program.body(self);
    gate_finish(slot_of(self));
}

static void release_all(void)
{
    if (bench_program.release != NULL) {
        for (unsigned core = 0; core < BENCH_CORES; core++) {
            bench_program.release(core);
        }
    }
}

static void report_tasks(void);
static void report_checks(void);
static void report_memory(void);

static void control_entry(void *argument)
{
    (void)argument;
    gate_collect("a task did not finish its set-up");
    bench_run = 1;
    gate_open();
    release_all();
    port_sleep_ticks(TICKS_OF_MS(BENCH_WARMUP_MS));
    bench_run = 0;

    gate_collect("a task did not end its warm-up");
    bench_run = 1;
    gate_open();
    window_open();
    release_all();
    port_sleep_ticks(TICKS_OF_MS(BENCH_WINDOW_MS));
    window_close();
    bench_run = 0;

    gate_collect("a task did not end its window");
    report_tasks();
    ruler_report();
    window_report();
    report_checks();
    report_memory();
    wire_begin(&output, "end");
    wire_text(&output, "run", BENCH_RUN_ID);
    wire_number(&output, "records", output.sequence);
    wire_text(&output, "status", "ok");
    output_end();
    end_of_run();
}

static void report_task(unsigned core, unsigned index, const char *name, unsigned priority, port_task_t handle,
                        uint32_t stack_bytes)
{
    wire_begin(&output, "task");
    wire_number(&output, "core", core);
    wire_number(&output, "index", index);
    wire_text(&output, "name", name);
    wire_number(&output, "priority", priority);
    wire_hex(&output, "handle", port_task_address(handle));
    wire_number(&output, "stack_bytes", stack_bytes);
    output_end();
}

static void report_tasks(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            const struct bench_task *task = &tasks[core][index];

            report_task(core, index, names[core][index], task->priority, task->handle, TASK_STACK_BYTES);
        }
    }
    report_task(0, BENCH_TASKS_PER_CORE, "control", PORT_PRIORITY_MAX, control, CONTROL_STACK_BYTES);
}

static void report_checks(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        uint32_t failures = 0;

        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            failures += tasks[core][index].failures;
        }
        bench_check("failures", core, failures);
        if (bench_program.report != NULL) {
            bench_program.report(core);
        }
    }
}

static void report_stack(unsigned core, unsigned index, const char *name, port_task_t handle, uint32_t stack_bytes)
{
    uint32_t used_bytes = port_stack_used_bytes(handle, stack_bytes);

    /* Nothing left untouched: whether it stopped there nobody knows. Costs nothing inside the window, unlike a check
     * at every switch, and catches what such a check would, if the run came this far. */
    if (used_bytes >= stack_bytes) {
        last_words_overflow(name);
    }
    wire_begin(&output, "stack");
    wire_number(&output, "core", core);
    wire_number(&output, "index", index);
    wire_number(&output, "used_bytes", used_bytes);
    wire_number(&output, "size_bytes", stack_bytes);
    output_end();
}

static void report_memory(void)
{
#if KERNEL_SERVICES_HEAP
    struct port_heap_figures heap;

    port_heap_figures(&heap);
    wire_begin(&output, "heap");
    wire_number(&output, "size_bytes", heap.size_bytes);
    wire_number(&output, "peak_bytes", heap.peak_bytes);
    wire_number(&output, "allocations", heap.allocations);
    output_end();
#endif
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            report_stack(core, index, names[core][index], tasks[core][index].handle, TASK_STACK_BYTES);
        }
    }
    report_stack(0, BENCH_TASKS_PER_CORE, "control", control, CONTROL_STACK_BYTES);
}

static void send_begin(void)
{
    wire_begin(&output, "begin");
    wire_text(&output, "run", BENCH_RUN_ID);
    wire_number(&output, "wire", WIRE_WIRE_VERSION);
    wire_text(&output, "bench", BENCH_ID);
    wire_text(&output, "kernel", BENCH_KERNEL);
    wire_text(&output, "board", BENCH_BOARD);
    wire_number(&output, "cores", BENCH_CORES);
    wire_number(&output, "clock_hz", BOARD_CLOCK_SYS_HZ);
    wire_number(&output, "window_us", (uint64_t)BENCH_WINDOW_MS * 1000u);
    wire_number(&output, "timer_hz", BOARD_TIMER_HZ);
    wire_hex(&output, "manifest", BENCH_MANIFEST);
    output_end();
}

static void send_params(void)
{
    static const struct {
        const char *name;
        uint32_t value;
    } params[] = {
#define PARAM(name, value) {name, value},
        BENCH_PARAMS(PARAM)
#undef PARAM
        {"tick_hz", PORT_TICK_HZ},
    };

    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
        wire_begin(&output, "param");
        wire_text(&output, "name", params[i].name);
        wire_number(&output, "value", params[i].value);
        output_end();
    }
}

static void make_task(port_task_t *handle, const struct port_task_request *request)
{
    if (!port_task_create(handle, request)) {
        last_words_error(ERROR_TASK_CREATE, request->name);
    }
}

static void make_tasks(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            struct bench_task *task = &tasks[core][index];
            char *name = names[core][index];

            name[0] = 'c';
            name[1] = (char)('0' + (char)core);
            name[2] = 't';
            name[3] = (char)('0' + (char)index);
            task->core = (uint8_t)core;
            task->index = (uint8_t)index;
            task->priority = bench_program.priority[index];
            make_task(&task->handle, &(struct port_task_request){.name = name,
                                                                 .entry = task_entry,
                                                                 .argument = task,
                                                                 .stack_bytes = TASK_STACK_BYTES,
                                                                 .priority = task->priority,
                                                                 .core = task->core});
        }
    }
    make_task(&control, &(struct port_task_request){.name = "control",
                                                    .entry = control_entry,
                                                    .stack_bytes = CONTROL_STACK_BYTES,
                                                    .priority = PORT_PRIORITY_MAX,
                                                    .core = 0});
}

int main(void);

int main(void)
{
    board_init();
    send_begin();
    send_params();
    ruler_measure(0);
    make_tasks();
    port_start();
    last_words_error(ERROR_KERNEL_START, "the kernel did not start");
}
