/* Flash interface of an STM32F7 (RM0410, 3.3) and the caches of its core. Accelerator and prefetch serve the flash at
 * its ITCM address only; over AXI the core's caches do. The accelerator may be emptied only while it is off. */
#include "bench_caches.h"
#include "bench_family.h"

#define ACR_LATENCY 0xFu
#define ACR_PRFTEN (1u << 8)
#define ACR_ARTEN (1u << 9)
#define ACR_ARTRST (1u << 11)

/* Sets flash wait states and prefetch as board.toml says. */
void family_start_flash(void)
{
    REGISTER(FLASH_ACR) = CLOCK_WAIT_STATES;
    wait_for(FLASH_ACR, ACR_LATENCY, CLOCK_WAIT_STATES);
    REGISTER(FLASH_ACR) = CLOCK_WAIT_STATES | ACR_ARTRST;
    REGISTER(FLASH_ACR) = CLOCK_WAIT_STATES | (BOARD_FEATURES_PREFETCH ? ACR_PRFTEN : 0u) |
                          (BOARD_FEATURES_ART ? ACR_ARTEN : 0u);
}

/* Enables the core's caches that board.toml names. */
void family_start_caches(void)
{
    cpu_start_caches(BOARD_FEATURES_ICACHE, BOARD_FEATURES_DCACHE);
}
