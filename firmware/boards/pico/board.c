/* Raspberry Pi Pico: clocks from the crystal, the 1 us timer, the serial port.
 *
 * The order matters on silicon: the chip may come here from a debugger's reset with its PLL still driving clk_sys, so
 * clk_sys is first moved to the reference clock, and only then is the PLL reset and set up again. A kernel that owns the
 * start-up has set the same clock, counts its tick by the timer's and may hold spinlocks: these are left as they are. */
#include "bench/board.h"
#include "bench_config.h"
#include "bench_rp2040.h"

/* Spinlock used once, for the last word. Outside 14 and 15, which kernels for this chip take. */
#define LAST_WORD_SPINLOCK 31u

/* Longest wait for room in the transmit FIFO: about ten byte times of polls, times a hundred for slow baud rates. */
#define SERIAL_POLL_LIMIT 1000000u

/* Waits until all these bits of a register are set. */
static void wait_for_bits(uint32_t address, uint32_t bits)
{
    while ((REGISTER(address) & bits) != bits) {
    }
}

/* Switches clk_sys to the reference clock, so that the PLL can be reset. */
static void leave_pll(void)
{
    REGISTER(CLK_RESUS_CTRL) = 0;
    CLEAR_BITS(CLK_SYS_CTRL) = 1u;
    wait_for_bits(CLK_SYS_SELECTED, 1u << 0);
}

/* Starts the crystal oscillator, waits until it is stable, and makes it the reference clock. */
static void start_crystal(void)
{
    REGISTER(XOSC_CTRL) = XOSC_ENABLE_1_15MHZ & 0xFFFu;
    REGISTER(XOSC_STARTUP) = (BOARD_CLOCK_CRYSTAL_HZ / 1000u + 128u) / 256u; /* 1 ms */
    SET_BITS(XOSC_CTRL) = XOSC_ENABLE_1_15MHZ & ~0xFFFu;
    wait_for_bits(XOSC_STATUS, XOSC_STABLE);
    REGISTER(CLK_REF_CTRL) = CLK_REF_SRC_XOSC;
    wait_for_bits(CLK_REF_SELECTED, 1u << CLK_REF_SRC_XOSC);
    REGISTER(CLK_REF_DIV) = CLK_DIV_BY_1;
}

/* Releases these peripheral blocks from reset, and waits until they are ready. */
static void release_from_reset(uint32_t blocks)
{
    CLEAR_BITS(RESETS_RESET) = blocks;
    wait_for_bits(RESETS_RESET_DONE, blocks);
}

/* Starts the system PLL, and switches clk_sys to it. */
static void start_pll(void)
{
    SET_BITS(RESETS_RESET) = RESET_PLL_SYS;
    release_from_reset(RESET_PLL_SYS);
    REGISTER(PLL_SYS_CS) = BOARD_CLOCK_PLL_REFDIV;
    REGISTER(PLL_SYS_FBDIV) = BOARD_CLOCK_PLL_FEEDBACK;
    CLEAR_BITS(PLL_SYS_PWR) = PLL_PD | PLL_VCOPD;
    wait_for_bits(PLL_SYS_CS, PLL_LOCK);
    REGISTER(PLL_SYS_PRIM) = (BOARD_CLOCK_PLL_POST1 << 16) | (BOARD_CLOCK_PLL_POST2 << 12);
    CLEAR_BITS(PLL_SYS_PWR) = PLL_POSTDIVPD;
    REGISTER(CLK_SYS_DIV) = CLK_DIV_BY_1;
    REGISTER(CLK_SYS_CTRL) = 0;
    REGISTER(CLK_SYS_CTRL) = CLK_SYS_SRC_AUX;
    wait_for_bits(CLK_SYS_SELECTED, 1u << CLK_SYS_SRC_AUX);
}

/* Starts the UART of the debug probe. */
static void start_serial(void)
{
    /* Divisor in 1/64, rounded: clk_peri * 64 / (16 * baud). */
    const uint32_t divisor = (8u * BOARD_CLOCK_SYS_HZ / BOARD_UART_BAUD + 1u) / 2u;

    REGISTER(CLK_PERI_CTRL) = CLK_PERI_ENABLE;
    SET_BITS(RESETS_RESET) = RESET_UART0;
    release_from_reset(RESET_UART0);
    REGISTER(UART0_IBRD) = divisor >> 6;
    REGISTER(UART0_FBRD) = divisor & 63u;
    REGISTER(UART0_LCR_H) = UART_LCR_8N1_FIFO;
    REGISTER(UART0_CR) = UART_CR_ENABLE_TX_RX;
    REGISTER(IO_BANK0_CTRL(BOARD_UART_TX_PIN)) = FUNCTION_UART;
    REGISTER(IO_BANK0_CTRL(BOARD_UART_RX_PIN)) = FUNCTION_UART;
}

/* Configures the measurement's output and input pins. */
static void start_pins(void)
{
    REGISTER(IO_BANK0_CTRL(BOARD_PINS_OUT)) = FUNCTION_SIO;
    REGISTER(IO_BANK0_CTRL(BOARD_PINS_IN)) = FUNCTION_SIO;
    REGISTER(SIO_GPIO_OE_SET) = 1u << BOARD_PINS_OUT;
}

/* Enables the interrupt of the input pin's rising edge, with this urgency. */
void board_edge_irq_enable(unsigned urgency)
{
    board_edge_irq_clear();
    SET_BITS(IO_BANK0_INTE(board_core(), BOARD_PINS_IN)) = PIN_EDGE_HIGH(BOARD_PINS_IN);
    cpu_irq_enable(BOARD_PINS_IN_IRQ, urgency, BOARD_IRQ_PRIORITY_BITS);
}

/* Starts clocks, serial port, pins and timer of the board. */
void board_init(void)
{
    if (!BENCH_KERNEL_OWNS_START) {
        leave_pll();
        start_crystal();
        start_pll();
        SET_BITS(RESETS_RESET) = RESET_TIMER;
    }
    REGISTER(WATCHDOG_TICK) = (BOARD_CLOCK_CRYSTAL_HZ / BOARD_TIMER_HZ) | WATCHDOG_TICK_ENABLE;
    release_from_reset(RESET_TIMER | RESET_IO_BANK0 | RESET_PADS_BANK0);
    start_serial();
    start_pins();
    /* A debugger's reset leaves the spinlocks as they were. */
    for (uint32_t lock = 0; !BENCH_KERNEL_OWNS_START && lock < SIO_SPINLOCK_COUNT; lock++) {
        REGISTER(SIO_SPINLOCK(lock)) = 0;
    }
}

/* Returns the board's 64-bit timer. */
uint64_t board_timer_ticks(void)
{
    uint32_t high = REGISTER(TIMER_TIMERAWH);

    for (;;) {
        uint32_t low = REGISTER(TIMER_TIMERAWL);
        uint32_t again = REGISTER(TIMER_TIMERAWH);

        if (again == high) {
            return ((uint64_t)high << 32) | low;
        }
        high = again;
    }
}

/* Sends a byte, and waits for room in the FIFO before. */
void board_serial_put(uint8_t byte)
{
    uint32_t polls = 0;

    while ((REGISTER(UART0_FR) & UART_FR_TXFF) != 0 && polls < SERIAL_POLL_LIMIT) {
        polls++;
    }
    REGISTER(UART0_DR) = byte;
}

/* Waits until all bytes are sent. */
void board_serial_flush(void)
{
    uint32_t polls = 0;

    while ((REGISTER(UART0_FR) & UART_FR_BUSY) != 0 && polls < SERIAL_POLL_LIMIT) {
        polls++;
    }
}

/* Claims the right to send the record that ends the run. Returns false if the other core has it. */
bool board_claim_last_word(void)
{
    return REGISTER(SIO_SPINLOCK(LAST_WORD_SPINLOCK)) != 0;
}
