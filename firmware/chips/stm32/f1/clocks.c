/* Clock set-up of an STM32F1 (RM0008: clocks 7, flash 3.3.3). The prefetch buffer may only be switched below 24 MHz
 * with the AHB undivided, so on HSI, where a reset begins and where a debugger's leftovers are led back to first. */
#include "bench_family.h"

#define CR_HSION (1u << 0)
#define CR_HSIRDY (1u << 1)
#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_HSEBYP (1u << 18)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

#define CFGR_SW 3u
#define CFGR_SW_HSI 0u
#define CFGR_SW_HSE 1u
#define CFGR_SW_PLL 2u
#define CFGR_SWS_SHIFT 2

/* HSE enters whole or halved; HSI always halved, so pll_m is 2 for it. */
#define CFGR_PLL \
    ((CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE ? 1u << 16 : 0u) | \
     (CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE && CLOCK_PLL_M == 2 ? 1u << 17 : 0u) | ((CLOCK_PLL_N - 2u) << 18))
#define CFGR_PRESCALERS ((AHB_CODE(CLOCK_AHB_DIV) << 4) | (APB_CODE(CLOCK_APB1_DIV) << 8) | (APB_CODE(CLOCK_APB2_DIV) << 11))

#define ACR_LATENCY 7u
#define ACR_PRFTBE (1u << 4)

/* Switches the system clock to a source, and waits until it is used. */
static void switch_to(uint32_t source)
{
    change_bits(RCC_CFGR, CFGR_SW, source);
    wait_for(RCC_CFGR, CFGR_SW << CFGR_SWS_SHIFT, source << CFGR_SWS_SHIFT);
}

/* Makes the internal oscillator (HSI) the system clock and stops the PLL, so that it can be set. */
static void start_at_hsi(void)
{
    REGISTER(RCC_CR) |= CR_HSION;
    wait_for(RCC_CR, CR_HSIRDY, CR_HSIRDY);
    switch_to(CFGR_SW_HSI);
    REGISTER(RCC_CFGR) = 0;
    REGISTER(RCC_CR) &= ~CR_PLLON;
    wait_for(RCC_CR, CR_PLLRDY, 0);
}

/* Starts the oscillators and the PLL that board.toml names, and makes them the system clock. */
void family_start_clocks(void)
{
    start_at_hsi();
    change_bits(FLASH_ACR, ACR_LATENCY | ACR_PRFTBE, CLOCK_WAIT_STATES | (BOARD_FEATURES_PREFETCH ? ACR_PRFTBE : 0u));
    wait_for(FLASH_ACR, ACR_LATENCY, CLOCK_WAIT_STATES);
    if (CLOCK_NEEDS_HSE) {
        REGISTER(RCC_CR) |= BOARD_CLOCK_HSE_BYPASS ? CR_HSEBYP : 0u;
        REGISTER(RCC_CR) |= CR_HSEON;
        wait_for(RCC_CR, CR_HSERDY, CR_HSERDY);
    }
    REGISTER(RCC_CFGR) = CFGR_PRESCALERS | (CLOCK_SOURCE == CLOCK_SOURCE_PLL ? CFGR_PLL : 0u);
    if (CLOCK_SOURCE == CLOCK_SOURCE_PLL) {
        REGISTER(RCC_CR) |= CR_PLLON;
        wait_for(RCC_CR, CR_PLLRDY, CR_PLLRDY);
        switch_to(CFGR_SW_PLL);
    } else if (CLOCK_SOURCE == CLOCK_SOURCE_HSE) {
        switch_to(CFGR_SW_HSE);
    }
}
