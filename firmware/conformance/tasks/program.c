/* The suite on a kernel with tasks. A control task, most urgent of all, runs one scene after the other on each
 * core in turn, waits until every part is played, and sends the notes. A part that never ends is an error that names
 * the scene, and the end: the host has the suite played again without it. */
#include "bench_scene.h"

#define LOOK_TICKS 2u
#define SCENE_LIMIT_TICKS 1000u

static struct worker workers[BENCH_CORES][PARTS];
const uint8_t part_priorities[PARTS] = {PRIORITY_LOW, PRIORITY_MID_A, PRIORITY_HIGH, PRIORITY_MID_B, PRIORITY_MID_C};
static const char *const names[PARTS] = {"low", "mid_a", "high", "mid_b", "mid_c"};
static port_task_t control_task;

static const struct scene *volatile scene;
static volatile uint32_t scene_number;
static volatile uint32_t start_tick;
static volatile unsigned scene_core; /* the core */

/* Returns the task that plays this part on the core whose scene is played. */
struct worker *worker(enum part part)
{
    return &workers[scene_core][part];
}

/* Sleeps until this tick, or not at all if it has passed. */
static void sleep_until(uint32_t tick)
{
    int32_t left = (int32_t)(tick - port_tick_now());

    if (left > 0) {
        port_sleep_ticks((uint32_t)left);
    }
}

/* Notes 1, pends the interrupt whose handler does `act`, waits for half a tick and notes 4. The scene notes 1 before
 * the interrupt, 2 in the handler, 3 in the more urgent task that it wakes, and 4 after that. The 4 comes well before
 * the next tick, which would help a handler that does not ask for the switch. The time before it is for a kernel in
 * which a task of its own, perhaps on another core, finishes the handler's work. */
void pend_and_note(void (*act)(void))
{
    uint64_t start;

    port_sleep_ticks(LATER_TICKS);
    arm_interrupt(act);
    note(1);
    start = board_timer_ticks();
    board_soft_irq_pend();
    while (board_timer_ticks() - start < BOARD_TIMER_HZ / PORT_TICK_HZ / 2u) {
    }
    note(4);
}

/* Plays the task's part in each scene, from the agreed tick on. */
static void worker_entry(void *argument)
{
    struct worker *self = argument;
    uint32_t seen = 0;

    if (port_core() != self->core) {
        last_words_error(ERROR_WRONG_CORE, "a task runs on another core than the one it was pinned to");
    }
    for (;;) {
        void (*play)(void);

        while (scene_number == seen) {
            port_sleep_ticks(LOOK_TICKS);
        }
        seen = scene_number;
        play = self->core == scene_core ? scene->parts[self->part] : NULL;
        if (play != NULL) {
            sleep_until(start_tick);
            play();
        }
        self->finished = seen;
    }
}

/* Returns whether the tasks of all cores have finished the current scene. */
static bool all_finished(void)
{
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned part = 0; part < PARTS; part++) {
            if (workers[core][part].finished != scene_number) {
                return false;
            }
        }
    }
    return true;
}

/* Plays a scene on a core, waits for its end, and sends its notes. */
static void run_scene(const struct scene *next, unsigned core)
{
    if (!scene_begins(next->name, core)) {
        return;
    }
    scene = next;
    scene_core = core;
    port_sleep_ticks(1); /* right behind a tick none comes between a worker's look at the clock and its sleep */
    start_tick = port_tick_now() + 2u * LOOK_TICKS + 1u;
    scene_number = scene_number + 1u;
    if (next->direct != NULL) {
        sleep_until(start_tick);
        next->direct();
    }
    while (!all_finished()) {
        if (port_tick_now() - start_tick > SCENE_LIMIT_TICKS && (int32_t)(port_tick_now() - start_tick) > 0) {
            last_words_error(ERROR_STUCK, next->name);
        }
        port_sleep_ticks(LOOK_TICKS);
    }
    notes_send(next->name, core);
}

static const struct solo *volatile solo;

/* Plays the current scene for one flow of control. */
static void run_solo(void)
{
    solo->play();
}

/* Plays these scenes for one flow of control in a task of the core. */
static void run_solos(const struct solo *scenes, size_t count, unsigned core)
{
    for (size_t i = 0; i < count; i++) {
        if (core == 0 || !scenes[i].first_core_only) {
            solo = &scenes[i];
            run_scene(&(struct scene){.name = scenes[i].name, .parts = {[MID_A] = run_solo}}, core);
        }
    }
}

/* Plays these scenes for several tasks on the core. */
static void run_scenes(const struct scene *scenes, size_t count, unsigned core)
{
    for (size_t i = 0; i < count; i++) {
        run_scene(&scenes[i], core);
    }
}

/* Ends the run with an error if a task has used up its stack. */
static void report_stack_use(port_task_t task, const char *name)
{
    if (port_stack_used_bytes(task, BENCH_STACK_BYTES) >= BENCH_STACK_BYTES) {
        last_words_overflow(name);
    }
}

/* Checks the stacks of all tasks. A task that has used its stack to the end may have done damage: then nothing seen
 * counts. */
static void report_stack_uses(void)
{
    report_stack_use(control_task, "control");
#if BENCH_ANY_CORE
    report_stack_use(unpinned_task, "unpinned");
#endif
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned part = 0; part < PARTS; part++) {
            report_stack_use(workers[core][part].handle, names[part]);
        }
    }
}

/* Plays all scenes on all cores, as the most urgent task. */
static void control_task_entry(void *argument)
{
    (void)argument;
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        run_solos(solos, solo_count, core);
        run_solos(message_solos, message_solo_count, core);
        run_solos(memory_solos, memory_solo_count, core);
        run_scenes(order_scenes, order_scene_count, core);
        run_scenes(wake_scenes, wake_scene_count, core);
        run_scenes(message_scenes, message_scene_count, core);
        run_scenes(manage_scenes, manage_scene_count, core);
        run_scenes(context_scenes, context_scene_count, core);
        run_scenes(optional_scenes, optional_scene_count, core);
        run_solos(timer_solos, timer_solo_count, core);
        run_solos(work_solos, work_solo_count, core);
#if BENCH_ANY_CORE
        run_scene(&any_core_scene, core);
#endif
#if SUITE_HAS_AFFINITY && BENCH_CORES > 1
        run_scene(&affinity_scene, core);
#endif
    }
    report_stack_uses();
    run_finish();
}

/* Creates a kernel task, or ends the run with an error. */
static void make_task(port_task_t *handle, const struct port_task_request *request)
{
    if (!port_task_create(handle, request)) {
        last_words_error(ERROR_TASK_CREATE, request->name);
    }
}

/* Runs the conformance suite on a kernel with tasks: creates tasks and objects, and starts the kernel. */
noreturn void run_program(void)
{
    objects_make();
    for (unsigned core = 0; core < BENCH_CORES; core++) {
        for (unsigned part = 0; part < PARTS; part++) {
            struct worker *made = &workers[core][part];

            made->core = (uint8_t)core;
            made->part = (uint8_t)part;
            make_task(&made->handle, &(struct port_task_request){.name = names[part],
                                                                 .entry = worker_entry,
                                                                 .argument = made,
                                                                 .stack_bytes = BENCH_STACK_BYTES,
                                                                 .priority = part_priorities[part],
                                                                 .core = (uint8_t)core});
        }
    }
    make_task(&control_task, &(struct port_task_request){.name = "control",
                                                         .entry = control_task_entry,
                                                         .stack_bytes = BENCH_STACK_BYTES,
                                                         .priority = PORT_PRIORITY_MAX,
                                                         .core = 0});
#if BENCH_ANY_CORE
    make_unpinned_task();
#endif
    port_start();
    last_words_error(ERROR_KERNEL_START, "the kernel did not start");
}
