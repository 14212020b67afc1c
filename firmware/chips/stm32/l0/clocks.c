/* Clock set-up of an STM32L0 (RM0367: power 6, clocks 7, flash 3.3.3).
 *
 * The chip starts on MSI at 2.1 MHz, or comes from a debugger with anything: first to HSI16, which every later state can
 * be reached from, then voltage and wait states for the clock to come, then that clock. */
#include "bench_family.h"

#define CR_HSION (1u << 0)
#define CR_HSIRDY (1u << 2)
#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_HSEBYP (1u << 18)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

#define CFGR_SW 3u
#define CFGR_SW_HSI 1u
#define CFGR_SW_HSE 2u
#define CFGR_SW_PLL 3u
#define CFGR_SWS_SHIFT 2

#define PWR_ENABLE_BIT 28u
#define PWR_CR_VOS (3u << 11) /* the range itself */
#define PWR_CSR_VOSF (1u << 4)

#define ACR_LATENCY (1u << 0)
#define ACR_PRFTEN (1u << 1)
#define ACR_PRE_READ (1u << 6)

/* Multiplier and divider of the PLL as the register codes them. */
#define PLL_MUL_CODE \
    (CLOCK_PLL_N == 3 ? 0u : CLOCK_PLL_N == 4 ? 1u : CLOCK_PLL_N == 6 ? 2u : CLOCK_PLL_N == 8 ? 3u : \
     CLOCK_PLL_N == 12 ? 4u : CLOCK_PLL_N == 16 ? 5u : CLOCK_PLL_N == 24 ? 6u : CLOCK_PLL_N == 32 ? 7u : 8u)
#define CFGR_PLL \
    ((CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE ? 1u << 16 : 0u) | (PLL_MUL_CODE << 18) | ((CLOCK_PLL_P - 1u) << 22))
#define CFGR_PRESCALERS ((AHB_CODE(CLOCK_AHB_DIV) << 4) | (APB_CODE(CLOCK_APB1_DIV) << 8) | (APB_CODE(CLOCK_APB2_DIV) << 11))

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
    enable_clock(RCC_APB1ENR, PWR_ENABLE_BIT);
    wait_for(PWR_CSR, PWR_CSR_VOSF, 0);
    change_bits(PWR_CR, PWR_CR_VOS, CLOCK_VOLTAGE_SCALE << 11);
    wait_for(PWR_CSR, PWR_CSR_VOSF, 0);
    switch_to(CFGR_SW_HSI);
    REGISTER(RCC_CR) &= ~CR_PLLON;
    wait_for(RCC_CR, CR_PLLRDY, 0);
}

/* Sets the flash wait states for the clock. */
static void start_flash(void)
{
    change_bits(FLASH_ACR, ACR_LATENCY | ACR_PRFTEN | ACR_PRE_READ,
                CLOCK_WAIT_STATES | (BOARD_FEATURES_PREFETCH ? ACR_PRFTEN : 0u) |
                    (BOARD_FEATURES_PRE_READ ? ACR_PRE_READ : 0u));
    wait_for(FLASH_ACR, ACR_LATENCY, CLOCK_WAIT_STATES);
}

/* Starts the oscillators and the PLL that board.toml names, and makes them the system clock. */
void family_start_clocks(void)
{
    start_at_hsi();
    start_flash();
    if (CLOCK_NEEDS_HSE) {
        REGISTER(RCC_CR) |= BOARD_CLOCK_HSE_BYPASS ? CR_HSEBYP : 0u;
        REGISTER(RCC_CR) |= CR_HSEON;
        wait_for(RCC_CR, CR_HSERDY, CR_HSERDY);
    }
    REGISTER(RCC_CFGR) = CFGR_SW_HSI | CFGR_PRESCALERS | (CLOCK_SOURCE == CLOCK_SOURCE_PLL ? CFGR_PLL : 0u);
    if (CLOCK_SOURCE == CLOCK_SOURCE_PLL) {
        REGISTER(RCC_CR) |= CR_PLLON;
        wait_for(RCC_CR, CR_PLLRDY, CR_PLLRDY);
        switch_to(CFGR_SW_PLL);
    } else if (CLOCK_SOURCE == CLOCK_SOURCE_HSE) {
        switch_to(CFGR_SW_HSE);
    }
}
