/* Clock set-up of an STM32H7 (RM0433: power 6, clocks 8, flash 4.3.8).
 *
 * Scale 0 is scale 1 with the boost of SYSCFG, and only parts of revision V have it. The supply may be chosen once after
 * power-on: here the internal regulator, as the board is wired. A debugger's leftovers are led back to HSI first. */
#include "bench_caches.h"
#include "bench_family.h"

#define CR_HSION (1u << 0)
#define CR_HSIRDY (1u << 2)
#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_HSEBYP (1u << 18)
#define CR_PLL1ON (1u << 24)
#define CR_PLL1RDY (1u << 25)

#define CFGR_SW 7u
#define CFGR_SW_HSI 0u
#define CFGR_SW_HSE 2u
#define CFGR_SW_PLL1 3u
#define CFGR_SWS_SHIFT 3

#define PWR_CR3_BYPASS (1u << 0)
#define PWR_CR3_LDOEN (1u << 1)
#define PWR_CR3_SCUEN (1u << 2)
#define PWR_CSR1_ACTVOSRDY (1u << 13)
#define PWR_D3CR_VOS (3u << 14)
#define PWR_D3CR_VOSRDY (1u << 13)
#define PWR_VOS_SCALE(scale) ((4u - ((scale) == 0 ? 1u : (scale))) << 14)
#define SYSCFG_ENABLE_BIT 1u
#define SYSCFG_PWRCR_ODEN (1u << 0)

#define ACR_FIELDS 0x3Fu
/* The programming delay follows the wait states (table 17); it matters to writing only. */
#define ACR_VALUE (CLOCK_WAIT_STATES | ((CLOCK_WAIT_STATES > 2 ? 2u : CLOCK_WAIT_STATES) << 4))

#define PLL_INPUT_HZ ((CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE ? BOARD_CLOCK_CRYSTAL_HZ : BOARD_CLOCK_HSI_HZ) / CLOCK_PLL_M)
#define PLL_INPUT_RANGE (PLL_INPUT_HZ < 2000000 ? 0u : PLL_INPUT_HZ < 4000000 ? 1u : PLL_INPUT_HZ < 8000000 ? 2u : 3u)
#define PLLCKSELR_VALUE ((CLOCK_PLL_INPUT == CLOCK_PLL_INPUT_HSE ? 2u : 0u) | (CLOCK_PLL_M << 4))
#define PLLCFGR_VALUE ((1u << 16) | (PLL_INPUT_RANGE << 2)) /* output P on; the wide oscillator, 192 MHz and up */
#define PLL1DIVR_VALUE ((1u << 24) | (1u << 16) | ((CLOCK_PLL_P - 1u) << 9) | (CLOCK_PLL_N - 1u))

#define REVISION_V 0x2000u

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
    REGISTER(RCC_CR) &= ~CR_PLL1ON;
    wait_for(RCC_CR, CR_PLL1RDY, 0);
}

/* Sets the regulator's voltage scale for the clock. */
static void start_power(void)
{
    change_bits(PWR_CR3, PWR_CR3_BYPASS | PWR_CR3_LDOEN | PWR_CR3_SCUEN, PWR_CR3_LDOEN);
    wait_for(PWR_CSR1, PWR_CSR1_ACTVOSRDY, PWR_CSR1_ACTVOSRDY);
    change_bits(PWR_D3CR, PWR_D3CR_VOS, PWR_VOS_SCALE(CLOCK_VOLTAGE_SCALE));
    wait_for(PWR_D3CR, PWR_D3CR_VOSRDY, PWR_D3CR_VOSRDY);
    if (CLOCK_VOLTAGE_SCALE == 0) {
        enable_clock(RCC_APB4ENR, SYSCFG_ENABLE_BIT);
        REGISTER(SYSCFG_PWRCR) |= SYSCFG_PWRCR_ODEN;
        wait_for(PWR_D3CR, PWR_D3CR_VOSRDY, PWR_D3CR_VOSRDY);
    }
}

/* Starts the PLL with the board's settings, and waits until it is locked. */
static void start_pll(void)
{
    REGISTER(RCC_PLLCKSELR) = PLLCKSELR_VALUE;
    REGISTER(RCC_PLLCFGR) = PLLCFGR_VALUE;
    REGISTER(RCC_PLL1DIVR) = PLL1DIVR_VALUE;
    REGISTER(RCC_CR) |= CR_PLL1ON;
    wait_for(RCC_CR, CR_PLL1RDY, CR_PLL1RDY);
}

/* Starts the oscillators and the PLL that board.toml names, and makes them the system clock. */
void family_start_clocks(void)
{
    start_at_hsi();
    start_power();
    change_bits(FLASH_ACR, ACR_FIELDS, ACR_VALUE);
    wait_for(FLASH_ACR, ACR_FIELDS, ACR_VALUE);
    if (CLOCK_NEEDS_HSE) {
        REGISTER(RCC_CR) |= BOARD_CLOCK_HSE_BYPASS ? CR_HSEBYP : 0u;
        REGISTER(RCC_CR) |= CR_HSEON;
        wait_for(RCC_CR, CR_HSERDY, CR_HSERDY);
    }
    if (CLOCK_SOURCE == CLOCK_SOURCE_PLL) {
        start_pll();
    }
    REGISTER(RCC_D1CFGR) = AHB_CODE(CLOCK_AXI_DIV) | (APB_CODE(CLOCK_APB1_DIV) << 4);
    REGISTER(RCC_D2CFGR) = (APB_CODE(CLOCK_APB1_DIV) << 4) | (APB_CODE(CLOCK_APB2_DIV) << 8);
    REGISTER(RCC_D3CFGR) = APB_CODE(CLOCK_APB1_DIV) << 4;
    if (CLOCK_SOURCE == CLOCK_SOURCE_PLL) {
        switch_to(CFGR_SW_PLL1);
    } else if (CLOCK_SOURCE == CLOCK_SOURCE_HSE) {
        switch_to(CFGR_SW_HSE);
    }
    /* Erratum of revision Y: reads of AXI SRAM may fail unless its port takes one at a time. */
    if (REGISTER(DBGMCU_IDCODE) >> 16 < REVISION_V) {
        REGISTER(AXI_TARG7_FN_MOD) = 1;
    }
}

/* Enables the core's caches that board.toml names. */
void family_start_caches(void)
{
    cpu_start_caches(BOARD_FEATURES_ICACHE, BOARD_FEATURES_DCACHE);
}
