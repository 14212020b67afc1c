/* Scenes for several tasks of one core. */
#pragma once

#include "../bench_conformance.h"

/* The cast: on each core one task less urgent and one more urgent than three equal ones. Where the kernel has no equals,
 * the three are as near to each other as can be. */
enum part { LOW, MID_A, HIGH, MID_B, MID_C, PARTS };

/* Below and above the least urgent part, and above all parts but the control task, there is room for a task that is created
 * or raised later. */
#if KERNEL_SERVICES_EQUAL_PRIORITIES
enum {
    PRIORITY_BELOW,
    PRIORITY_LOW,
    PRIORITY_MID_A,
    PRIORITY_MID_B = PRIORITY_MID_A,
    PRIORITY_MID_C = PRIORITY_MID_A,
    PRIORITY_ABOVE,
    PRIORITY_HIGH = PRIORITY_ABOVE,
    PRIORITY_RAISED
};
#else
enum {
    PRIORITY_BELOW,
    PRIORITY_LOW,
    PRIORITY_ABOVE,
    PRIORITY_MID_A,
    PRIORITY_MID_B,
    PRIORITY_MID_C,
    PRIORITY_HIGH,
    PRIORITY_RAISED
};
#endif
_Static_assert(PORT_PRIORITY_MAX > PRIORITY_RAISED, "too few priorities: 6 at least, 8 where none may be shared");

extern const uint8_t part_priorities[PARTS];

struct worker {
    port_task_t handle;
    uint8_t core;
    uint8_t part;
    volatile uint32_t finished; /* number of the last scene whose part was played to its end */
};

/* Returns the task that plays this part on the core whose scene is played. */
struct worker *worker(enum part part);

struct scene {
    const char *name;
    void (*parts[PARTS])(void); /* NULL: not in this scene */
    void (*direct)(void);       /* optional; by the control task, most urgent of all and on core 0 */
};

/* Notes 1, pends the interrupt whose handler does `act`, waits for half a tick and notes 4. */
void pend_and_note(void (*act)(void));

/* Each part starts on the same tick. A part that must come later than another sleeps that much longer: */
#define LATER_TICKS 2u

#if BENCH_ANY_CORE
/* any_core.c: the one task that may run on any core; it sleeps but in the scene of that name. */
extern port_task_t unpinned_task;
void make_unpinned_task(void);
extern const struct scene any_core_scene;
#endif

#if SUITE_HAS_AFFINITY && BENCH_CORES > 1
extern const struct scene affinity_scene; /* affinity.c */
#endif

extern const struct scene order_scenes[], wake_scenes[], message_scenes[], manage_scenes[], context_scenes[],
    optional_scenes[];
extern const size_t order_scene_count, wake_scene_count, message_scene_count, manage_scene_count, context_scene_count,
    optional_scene_count;
