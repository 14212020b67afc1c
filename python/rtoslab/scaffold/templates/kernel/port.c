/* Code of the port that is not measured: start, tick, critical sections. Also a placeholder for the kernel. */
#include "bench/board.h"
#include "bench/port.h"

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / @MACRO@_TICK_RATE_HZ)

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "@MACRO@_TICK_RATE_HZ is out of SysTick's range");

void isr_systick(void);

volatile uint32_t @SYMBOL@_ticks;

static volatile uint32_t alarm_tick;
static void (*volatile alarm_function)(void);

void port_start(void)
{
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT);
    cpu_systick_start(TICK_CYCLES);
}

/* This function is in the vector table. firmware/cpus/ has the names of the handlers of system exceptions. */
void isr_systick(void)
{
    uint32_t now = @SYMBOL@_ticks + 1u;
    void (*function)(void) = alarm_function;

    @SYMBOL@_ticks = now;
    if (function != NULL && now == alarm_tick) {
        alarm_function = NULL;
        function();
    }
}

void port_alarm(uint32_t ticks, void (*function)(void))
{
    uint32_t masked = cpu_mask_interrupts();

    alarm_tick = @SYMBOL@_ticks + ticks;
    alarm_function = function;
    cpu_restore_interrupts(masked);
}

port_critical_t port_critical_enter(void)
{
    return cpu_mask_interrupts();
}

void port_critical_exit(port_critical_t entered)
{
    cpu_restore_interrupts(entered);
}

/* A pending interrupt wakes the core although it is masked. Its handler runs as soon as it is unmasked. */
static bool taken_within(struct @SYMBOL@_semaphore *semaphore, uint32_t ticks)
{
    uint32_t start = @SYMBOL@_ticks, masked = cpu_mask_interrupts();
    bool taken;

    while (semaphore->count == 0 && @SYMBOL@_ticks - start < ticks) {
        cpu_wait_for_interrupt();
        cpu_restore_interrupts(masked);
        masked = cpu_mask_interrupts();
    }
    taken = semaphore->count != 0;
    semaphore->count = semaphore->count - (taken ? 1u : 0u);
    cpu_restore_interrupts(masked);
    return taken;
}

bool @SYMBOL@_semaphore_take(struct @SYMBOL@_semaphore *semaphore)
{
    while (!taken_within(semaphore, UINT32_MAX)) {
    }
    return true;
}

bool @SYMBOL@_semaphore_take_for(struct @SYMBOL@_semaphore *semaphore, uint32_t ticks)
{
    return taken_within(semaphore, ticks);
}

bool @SYMBOL@_semaphore_give(struct @SYMBOL@_semaphore *semaphore)
{
    uint32_t masked = cpu_mask_interrupts();
    bool room = semaphore->count < semaphore->maximum;

    semaphore->count = semaphore->count + (room ? 1u : 0u);
    cpu_restore_interrupts(masked);
    return room;
}

void @SYMBOL@_semaphore_give_from_isr(struct @SYMBOL@_semaphore *semaphore)
{
    (void)@SYMBOL@_semaphore_give(semaphore);
}
