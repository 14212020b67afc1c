/* Where the two images wait for each other: before the program runs, before the warm-up and before the window.
 *
 * Both programs begin at one event of the timer. How long the records before it take depends on the bytes of the run id, and
 * without a common instant the distance between the ticks of the two kernels would depend on them, too.
 *
 * The windows open on a tick of each kernel's own, and the ticks of two cores are not in phase. Both kernels let the same
 * number of ticks pass after a meeting, so the windows open less than a tick apart. */
#include "bench/board.h"
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

#define TIMER_RAW 0x40054028u
/* Each core has an alarm of its own, whose interrupt line has the alarm's number. The board uses neither. */
#define START_ALARM (2u + AMP_CORE)
#define TIMER_ALARM (0x40054010u + 4u * START_ALARM)
#define TIMER_INTERRUPTS 0x40054034u
#define TIMER_ENABLED_INTERRUPTS 0x40054038u

/* Longer than both cores need from the meeting to their sleep. */
#define START_US 1000u

/* Sleeps until an instant of the timer. The core wakes at the event itself: a loop that reads the timer would go on at any of
 * its instructions. */
static void sleep_until_us(uint32_t instant)
{
    uint32_t masked = cpu_mask_interrupts();

    CPU_REGISTER(TIMER_ENABLED_INTERRUPTS + AMP_REGISTER_SET) = 1u << START_ALARM;
    cpu_irq_enable(START_ALARM, 0, BOARD_IRQ_PRIORITY_BITS);
    CPU_REGISTER(TIMER_ALARM) = instant;
    cpu_wait_for_interrupt();
    CPU_NVIC_ICER(0) = 1u << START_ALARM;
    CPU_REGISTER(TIMER_ENABLED_INTERRUPTS + AMP_REGISTER_CLEAR) = 1u << START_ALARM;
    CPU_REGISTER(TIMER_INTERRUPTS) = 1u << START_ALARM;
    CPU_NVIC_ICPR(0) = 1u << START_ALARM;
    cpu_restore_interrupts(masked);
}

/* Waits for the other image, and runs the program. Both programs begin at the same instant of the timer. */
noreturn void __wrap_run_program(void)
{
    if (AMP_CORE == 0) {
        AMP_SHARED->start_us = CPU_REGISTER(TIMER_RAW) + START_US;
    }
    amp_meet();
    sleep_until_us(AMP_SHARED->start_us);
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
