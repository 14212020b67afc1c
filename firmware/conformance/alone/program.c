/* The suite without tasks: the solo scenes, from main. */
#include "../bench_conformance.h"

/* Plays these scenes one after the other, and sends their notes. */
static void run_solos(const struct solo *scenes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (scene_begins(scenes[i].name, 0)) {
            scenes[i].play();
            notes_send(scenes[i].name, 0);
        }
    }
}

/* Runs the conformance suite without tasks. */
noreturn void run_program(void)
{
    objects_make();
    port_start();
    run_solos(solos, solo_count);
    run_solos(message_solos, message_solo_count);
    run_solos(memory_solos, memory_solo_count);
    run_solos(timer_solos, timer_solo_count);
    run_solos(work_solos, work_solo_count);
    run_finish();
}
