/* Contiki-NG behind the port contract: what is never measured, and what belongs to a CPU's part of Contiki-NG: its clock, and
 * the mask of its interrupts. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

#define TICK_CYCLES (BOARD_CLOCK_SYS_HZ / CLOCK_CONF_SECOND)

_Static_assert(TICK_CYCLES - 1u <= CPU_SYST_RELOAD_MOST && TICK_CYCLES > 1000u, "CLOCK_CONF_SECOND is out of SysTick's range");

void isr_systick(void);

static volatile clock_time_t ticks_now;
static volatile clock_time_t alarm_tick;
static void (*volatile alarm_function)(void);

/* Starts the kernel's list of processes, with the one that serves timers. */
void port_prepare(void)
{
    process_init();
    process_start(&etimer_process, NULL);
}

/* Starts the tick. The image's flow of control goes on, as a process does until it returns to the kernel. */
void port_start(void)
{
    CPU_SCB_SHPR3 = CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT);
    cpu_systick_start(TICK_CYCLES);
}

/* Handles the tick: counts it, and polls the process that serves timers if there are any. */
void isr_systick(void)
{
    clock_time_t now = ticks_now + 1u;
    void (*function)(void) = alarm_function;

    ticks_now = now;
    if (etimer_pending()) {
        etimer_request_poll();
    }
    if (function != NULL && now == alarm_tick) {
        alarm_function = NULL;
        function();
    }
}

/* Calls a function from the tick's handler on the n-th tick from now. */
void port_alarm(uint32_t ticks, void (*function)(void))
{
    port_critical_t entered = port_critical_enter();

    alarm_tick = ticks_now + ticks;
    alarm_function = function;
    port_critical_exit(entered);
}

/* Returns the number of the present tick, for the kernel. */
clock_time_t clock_time(void)
{
    return ticks_now;
}

/* Masks all interrupts, for the kernel. Returns the mask from before. */
int_master_status_t int_master_read_and_disable(void)
{
    return cpu_mask_interrupts();
}

/* Restores the mask of interrupts, for the kernel. */
void int_master_status_set(int_master_status_t status)
{
    cpu_restore_interrupts(status);
}

/* Creates a pool of blocks of one size, in the kernel's heap. False if it fails. */
bool port_pool_create(port_pool_t *pool, uint32_t blocks, uint32_t block_bytes)
{
    pool->size = (unsigned short)block_bytes;
    pool->num = (unsigned short)blocks;
    pool->used = heapmem_alloc(blocks * sizeof *pool->used);
    pool->mem = heapmem_alloc(blocks * block_bytes);
    if (pool->used == NULL || pool->mem == NULL) {
        return false;
    }
    memb_init(pool);
    return true;
}

/* Returns the heap's size and its peak. */
void port_heap_figures(struct port_heap_figures *figures)
{
    heapmem_stats_t stats;

    heapmem_stats(&stats);
    figures->size_bytes = HEAPMEM_CONF_ARENA_SIZE;
    figures->peak_bytes = stats.max_footprint;
}
