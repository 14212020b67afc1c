/* Where the two images wait for each other: before the program runs, before the warm-up and before the window.
 *
 * The windows open on a tick of each kernel's own, and the ticks of two cores are not in phase. Both kernels let the same
 * number of ticks pass after a meeting, so the windows open less than a tick apart. */
#include "bench/port.h"
#include "bench_amp.h"
#include "bench_core.h"

noreturn void __real_run_program(void);
noreturn void __wrap_run_program(void);

/* Waits until the other image has come to the same meeting. Ends the run with an error if that image has ended. */
void amp_meet(void)
{
    uint32_t mine = AMP_SHARED->meetings[AMP_CORE] + 1u;

    AMP_SHARED->meetings[AMP_CORE] = mine;
    while (AMP_SHARED->meetings[AMP_OTHER_CORE] < mine) {
        if (AMP_SHARED->ended[AMP_OTHER_CORE] != 0) {
            last_words_error(ERROR_STUCK, "the other core's image has ended");
        }
    }
}

/* Waits for the other image, and then runs the program. */
noreturn void __wrap_run_program(void)
{
    amp_meet();
    __real_run_program();
}

#if KERNEL_SERVICES_TASKS
void __real_gate_open(void);
void __wrap_gate_open(void);

/* Waits for the other image, and then opens the gate. The control task calls it when all tasks are at the gate. */
void __wrap_gate_open(void)
{
    amp_meet();
    __real_gate_open();
}
#else
/* As many ticks as the gate of core/run/tasks takes. */
#define GATE_TICKS (2u * (PORT_TICK_HZ >= 500 ? PORT_TICK_HZ / 250 : 2) + 1u)

void __real_port_alarm(uint32_t ticks, void (*function)(void));
void __wrap_port_alarm(uint32_t ticks, void (*function)(void));

/* Waits for the other image, lets the ticks of a gate pass, and sets the alarm. The image's only flow of control calls
 * it right before warm-up and window, just after a tick. It also returns just after a tick. */
void __wrap_port_alarm(uint32_t ticks, void (*function)(void))
{
    uint32_t from;

    amp_meet();
    from = port_tick_now();
    while (port_tick_now() - from < GATE_TICKS) {
    }
    __real_port_alarm(ticks, function);
}
#endif
