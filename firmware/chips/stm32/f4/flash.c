/* Flash interface of an STM32F4 (RM0090, 3.5): wait states, prefetch, the accelerator's lines for code and for data.
 * The lines may be emptied only while they are off. */
#include "bench_family.h"

#define ACR_LATENCY 0xFu
#define ACR_PRFTEN (1u << 8)
#define ACR_ICEN (1u << 9)
#define ACR_DCEN (1u << 10)
#define ACR_ICRST (1u << 11)
#define ACR_DCRST (1u << 12)

/* Sets flash wait states and prefetch as board.toml says. */
void family_start_flash(void)
{
    REGISTER(FLASH_ACR) = CLOCK_WAIT_STATES;
    wait_for(FLASH_ACR, ACR_LATENCY, CLOCK_WAIT_STATES);
    REGISTER(FLASH_ACR) = CLOCK_WAIT_STATES | ACR_ICRST | ACR_DCRST;
    REGISTER(FLASH_ACR) = CLOCK_WAIT_STATES | (BOARD_FEATURES_PREFETCH ? ACR_PRFTEN : 0u) |
                          (BOARD_FEATURES_ICACHE ? ACR_ICEN : 0u) | (BOARD_FEATURES_DCACHE ? ACR_DCEN : 0u);
}

/* Enables the core's caches that board.toml names. */
void family_start_caches(void)
{
    /* The accelerator is the only cache, and already on. */
}
