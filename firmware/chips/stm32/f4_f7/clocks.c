/* Clock set-up of an STM32F4 or F7 (RM0090: power 5, clocks 7; RM0410: power 4, clocks 5).
 *
 * The voltage scale may only be changed while the PLL is off, and over-drive is switched on while the core still runs
 * from HSI; a debugger's leftovers are led back to HSI first. */
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
#define CFGR_PRESCALERS ((AHB_CODE(CLOCK_AHB_DIV) << 4) | (APB_CODE(CLOCK_APB1_DIV) << 10) | (APB_CODE(CLOCK_APB2_DIV) << 13))

/* The second output (USB, at most 48 MHz and unused here) gets the divider that 432 MHz would need. */
#define PLLCFGR_FIELDS ((0xFu << 24) | (1u << 22) | (3u << 16) | (0x1FFu << 6) | 0x3Fu)
#define PLLCFGR_VALUE \
    ((9u << 24) | (CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE ? 1u << 22 : 0u) | ((CLOCK_PLL_P / 2u - 1u) << 16) | \
     (CLOCK_PLL_N << 6) | CLOCK_PLL_M)

#define PWR_ENABLE_BIT 28u
/* With two scales the field has one bit, 1 for scale 1; with three it has two, 3 for scale 1. */
#define PWR_VOS_MASK (BOARD_CLOCK_VOLTAGE_SCALES == 2 ? 1u << 14 : 3u << 14)
#define PWR_VOS ((BOARD_CLOCK_VOLTAGE_SCALES == 2 ? 2u - CLOCK_VOLTAGE_SCALE : 4u - CLOCK_VOLTAGE_SCALE) << 14)
#define PWR_CSR_VOSRDY (1u << 14)
#define PWR_CR_ODEN (1u << 16)
#define PWR_CR_ODSWEN (1u << 17)
#define PWR_CSR_ODRDY (1u << 16)
#define PWR_CSR_ODSWRDY (1u << 17)

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
    enable_clock(RCC_APB1ENR, PWR_ENABLE_BIT);
    change_bits(PWR_CR, PWR_VOS_MASK, PWR_VOS);
}

/* Starts the PLL with the board's settings, and waits until it is locked. */
static void start_pll(void)
{
    change_bits(RCC_PLLCFGR, PLLCFGR_FIELDS, PLLCFGR_VALUE);
    REGISTER(RCC_CR) |= CR_PLLON;
    if (CLOCK_OVERDRIVE) {
        REGISTER(PWR_CR) |= PWR_CR_ODEN;
        wait_for(PWR_CSR, PWR_CSR_ODRDY, PWR_CSR_ODRDY);
        REGISTER(PWR_CR) |= PWR_CR_ODSWEN;
        wait_for(PWR_CSR, PWR_CSR_ODSWRDY, PWR_CSR_ODSWRDY);
    }
    wait_for(RCC_CR, CR_PLLRDY, CR_PLLRDY);
    wait_for(PWR_CSR, PWR_CSR_VOSRDY, PWR_CSR_VOSRDY); /* the scale takes effect with the PLL */
}

/* Starts the oscillators and the PLL that board.toml names, and makes them the system clock. */
void family_start_clocks(void)
{
    start_at_hsi();
    family_start_flash();
    if (CLOCK_NEEDS_HSE) {
        REGISTER(RCC_CR) |= BOARD_CLOCK_HSE_BYPASS ? CR_HSEBYP : 0u;
        REGISTER(RCC_CR) |= CR_HSEON;
        wait_for(RCC_CR, CR_HSERDY, CR_HSERDY);
    }
    if (CLOCK_SOURCE == CLOCK_SOURCE_PLL) {
        start_pll();
    }
    REGISTER(RCC_CFGR) = CFGR_PRESCALERS;
    if (CLOCK_SOURCE == CLOCK_SOURCE_PLL) {
        switch_to(CFGR_SW_PLL);
    } else if (CLOCK_SOURCE == CLOCK_SOURCE_HSE) {
        switch_to(CFGR_SW_HSE);
    }
}
