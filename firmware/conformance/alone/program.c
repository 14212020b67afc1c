/* The suite without tasks: the solo scenes, from main. */
#include "../conformance.h"

noreturn void run_program(void)
{
    objects_make();
    port_start();
    for (size_t i = 0; i < solo_count; i++) {
        solos[i].play();
        notes_send(solos[i].name, 0);
    }
    run_finish();
}
