/* The run of a benchmark on a kernel with tasks, once the frame has said what the image is. */
#include "../bench_run.h"
#include "bench_gate.h"

#define TASK_STACK_BYTES BENCH_STACK_BYTES
#define CONTROL_STACK_BYTES BENCH_CONTROL_STACK_BYTES
#define NAME_CHARS 8u

_Static_assert(BENCH_CORES <= 10 && BENCH_TASKS_PER_CORE <= 10, "task names hold one digit each");
DEMAND_A_TICK(BENCH_WARMUP_MS);

static char names[BENCH_CORES][BENCH_TASKS_PER_CORE][NAME_CHARS];
static port_task_t control;

/* Returns a task's slot in the gate. */
static unsigned slot_of(const struct bench_task *task)
{
    return task->core * BENCH_TASKS_PER_CORE + task->index;
}

/* Runs one benchmark task: set-up, warm-up body, measured body, with a gate before each. */
static void task_entry(void *argument)
{
    struct bench_task *self = argument;

#if !BENCH_ANY_CORE /* a task that may move measures no core's ruler */
    if (port_core() != self->core) {
        bench_error(ERROR_WRONG_CORE, "a task runs on another core than the one it was pinned to");
    }
    if (self->core != 0 && self->index == 0) {
        ruler_measure(self->core);
    }
#endif
    if (!bench_program.prepare(self)) {
        bench_error(ERROR_PREPARE, names[self->core][self->index]);
    }
    gate_arrive(slot_of(self));
    bench_program.body(self);
    gate_arrive(slot_of(self));
    bench_program.body(self);
    measure_body_ended();
    gate_finish(slot_of(self));
}

/* Calls the benchmark's `release` for each core, if it has one. */
static void release_all(void)
{
    if (bench_program.release != NULL) {
        for (unsigned core = 0; core < BENCH_CORES; core++) {
            bench_program.release(core);
        }
    }
}

static void report_tasks(void);
static void report_stacks(void);

/* Runs the control task: opens the gates and the window, and sends all records at the end. */
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
    measure_opened();
    release_all();
    measure_wait();
    window_close();
    bench_run = 0;

    gate_collect("a task did not end its window");
    report_tasks();
    ruler_report();
    window_report();
    measure_report();
    report_checks();
    report_heap();
    report_stacks();
    run_finish();
}

/* Sends the records of all benchmark tasks and of the control task. */
static void report_tasks(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            const struct bench_task *task = bench_task(core, index);

            report_task(&(struct task_facts){.name = names[core][index],
                                             .address = port_task_address(task->handle),
                                             .stack_bytes = TASK_STACK_BYTES,
                                             .core = core,
                                             .index = index,
                                             .priority = task->priority});
        }
    }
    report_task(&(struct task_facts){.name = "control",
                                     .address = port_task_address(control),
                                     .stack_bytes = CONTROL_STACK_BYTES,
                                     .index = BENCH_TASKS_PER_CORE,
                                     .priority = PORT_PRIORITY_MAX});
}

/* Sends how many bytes of a stack were used. A stack that was used up ends the run. */
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

/* Sends the stack use of all benchmark tasks and of the control task. */
static void report_stacks(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            report_stack(core, index, names[core][index], bench_task(core, index)->handle, TASK_STACK_BYTES);
        }
    }
    report_stack(0, BENCH_TASKS_PER_CORE, "control", control, CONTROL_STACK_BYTES);
}

/* Creates a kernel task, or ends the run with an error. */
static void make_task(port_task_t *handle, const struct port_task_request *request)
{
    if (!port_task_create(handle, request)) {
        last_words_error(ERROR_TASK_CREATE, request->name);
    }
}

/* Creates the benchmark tasks of all cores and the control task. */
static void make_tasks(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned index = 0; index < BENCH_TASKS_PER_CORE; index++) {
            struct bench_task *task = bench_task(core, index);
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
                                                                 .core = BENCH_ANY_CORE ? PORT_ANY_CORE : task->core});
        }
    }
    make_task(&control, &(struct port_task_request){.name = "control",
                                                    .entry = control_entry,
                                                    .stack_bytes = CONTROL_STACK_BYTES,
                                                    .priority = PORT_PRIORITY_MAX,
                                                    .core = 0});
}

/* Runs the benchmark: rulers, tasks, kernel start. The control task does the rest. */
noreturn void run_program(void)
{
    measure_prepare();
    ruler_measure(0);
    measure_make_wait();
    make_tasks();
    port_start();
    last_words_error(ERROR_KERNEL_START, "the kernel did not start");
}
