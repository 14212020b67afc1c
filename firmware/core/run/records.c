/* The benchmark's tasks and what is reported of them, the same with a kernel and without. */
#include "bench_run.h"

volatile uint32_t bench_run;

static struct bench_task tasks[BENCH_CORES][BENCH_TASKS_PER_CORE];

/* Returns the task with this index among the tasks of a core. */
struct bench_task *bench_task(unsigned core, unsigned index)
{
    return &tasks[core][index];
}

/* Reports an error of a benchmark, and ends the run. */
noreturn void bench_error(enum bench_error_code code, const char *detail)
{
    last_words_error(code, detail);
}

/* Sends a value that the host's proofs check, by name and core. */
void bench_check(const char *name, unsigned core, uint32_t value)
{
    wire_begin(&output, "check");
    wire_text(&output, "name", name);
    wire_number(&output, "core", core);
    wire_number(&output, "value", value);
    output_end();
}

/* Sends the record of a task: core, name, priority, control block, stack. */
void report_task(const struct task_facts *task)
{
    wire_begin(&output, "task");
    wire_number(&output, "core", task->core);
    wire_number(&output, "index", task->index);
    wire_text(&output, "name", task->name);
    wire_number(&output, "priority", task->priority);
    wire_hex(&output, "handle", task->address);
    wire_number(&output, "stack_bytes", task->stack_bytes);
    output_end();
}

/* Sends the number of failed calls, and the values that the benchmark reports itself. */
void report_checks(void)
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

/* Sends the heap's size, peak and allocations, if the kernel knows them. */
void report_heap(void)
{
#if KERNEL_SERVICES_HEAP_PEAK
    struct port_heap_figures heap;

    port_heap_figures(&heap);
    wire_begin(&output, "heap");
    wire_number(&output, "size_bytes", heap.size_bytes);
    wire_number(&output, "peak_bytes", heap.peak_bytes);
#if KERNEL_SERVICES_HEAP_ALLOCATIONS
    wire_number(&output, "allocations", heap.allocations);
#endif
    output_end();
#endif
}
