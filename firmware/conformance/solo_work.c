/* The scene of the optional service work, for one flow of control in a task. */
#include "bench_conformance.h"

#if SUITE_HAS_WORK
#include "bench/work.h"

static volatile uint32_t next_note;

/* Notes the next number. The kernel calls it as submitted work. */
static PORT_WORK_CALLBACK(note_next)
{
    note(next_note);
}

/* Notes 5 in the handler, and submits. */
static void submit_in_handler(void)
{
    note(5);
    next_note = 6;
    (void)port_work_submit_from_isr(note_next);
}

/* Plays a scene: a function submitted by a task (1 2 3) and one submitted by a handler (4 5 6 7) run
 * before the task goes on. */
static void work_calls(void)
{
    arm_interrupt(submit_in_handler);
    next_note = 2;
    note(1);
    (void)port_work_submit(note_next);
    note(3);
    note(4);
    board_soft_irq_pend();
    note(7);
}

#endif

const struct solo work_solos[] = {
#if SUITE_HAS_WORK
    {"work_calls", work_calls, true},
#endif
    {NULL, NULL, false}, /* a kernel may lack the service */
};
const size_t work_solo_count = sizeof work_solos / sizeof work_solos[0] - 1u;
