/* The scene of the optional service affinity: a task binds itself to another core and back. */
#include "bench_scene.h"

#if SUITE_HAS_AFFINITY && BENCH_CORES > 1
#include "bench/affinity.h"

/* Moves to the other core and back, and notes 1 if it runs on the other core after the first call, and 1 if it runs on
 * its own after the second one. In between it sleeps a tick, and notes 1 if it is still there. */
static void go_there_and_back(void)
{
    struct worker *self = worker(MID_A);
    unsigned home = port_core(), away = (home + 1u) % BENCH_CORES;

    port_affinity_set(self->handle, away);
    note(port_core() == away ? 1 : 0);
    port_sleep_ticks(1);
    note(port_core() == away ? 1 : 0);
    port_affinity_set(self->handle, home);
    note(port_core() == home ? 1 : 0);
}

const struct scene affinity_scene = {"affinity_moves", {[MID_A] = go_there_and_back}, NULL};
#endif
