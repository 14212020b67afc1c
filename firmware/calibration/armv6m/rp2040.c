/* Rows about the RP2040: registers behind the APB bridge, the flash and its cache, the boot ROM (data sheet 2.1, 2.6, 2.8). */
#include "bench_body.h"
#include "bench_rows.h"

#if BENCH_PARAM_XIP_CONTROL

#define APB_READ 0x40000000u  /* SYSINFO: CHIP_ID */
#define APB_WRITE 0x4005800Cu /* WATCHDOG: SCRATCH0, which nobody uses */
#define ALIASED 0x40036038u   /* UART0: UARTIMSC by the alias that sets bits; 0 sets none */
#define FAST_READ 0x50000000u /* DMA: CH0_READ_ADDR */
#define FLASH_UNCACHED 0x13000000u
#define FLASH_FILLING 0x12000000u /* looks the line up never, and puts it into the cache */
#define XIP_FLUSH (BENCH_PARAM_XIP_CONTROL + 4u)
#define ROM_TABLE_OF_FUNCTIONS 0x14u
#define ROM_TABLE_LOOKUP 0x18u
#define ROM_CODE(first, second) ((uint32_t)(first) | (uint32_t)(second) << 8)

#define SPACE "\n\tnop\n\tnop\n\tnop\n\tnop"
#define STORED(value, address) MEASURED(value, "movs r1, #0\n\t", TIMES(8, "str r1, [%3]" SPACE), address)
#define LOADED(value, address) MEASURED(value, "", TIMES(8, "ldr r0, [%3]" SPACE), address)

/* Measures row `apb_read`: cycles of loads from a register behind the APB bridge. */
void row_apb_read(uint32_t *values)
{
    LOADED(values[0], APB_READ);
}

/* Measures row `apb_write`: cycles of stores to a register behind the APB bridge. */
void row_apb_write(uint32_t *values)
{
    STORED(values[0], APB_WRITE);
}

/* Measures row `apb_alias`: cycles of stores to and loads from a register by the alias that sets bits. */
void row_apb_alias(uint32_t *values)
{
    STORED(values[0], ALIASED);
    LOADED(values[1], ALIASED);
}

/* Measures row `fast_read`: cycles of loads from a register on the AHB-Lite bus. */
void row_fast_read(uint32_t *values)
{
    LOADED(values[0], FAST_READ);
}

/* Measures row `xip_word`: cycles of loads from flash without the cache. */
void row_xip_word(uint32_t *values)
{
    MEASURED(values[0], "", TIMES(4, "ldr r0, [%3]"), FLASH_UNCACHED);
}

/* Measures row `xip_line`: cycles of loads from flash through the cache. */
void row_xip_line(uint32_t *values)
{
    MEASURED(values[0], "", TIMES(4, "ldr r0, [%3]"), FLASH_FILLING);
}

/* Returns the cycles of straight code. It is one piece of code, however often it runs. */
static uint32_t __attribute__((noinline)) straight(void)
{
    uint32_t cycles;

    MEASURED(cycles, "", TIMES(96, "adds r0, r1"), 0);
    return cycles;
}

/* Measures row `xip_code`: cycles of straight code in flash while the cache is empty, and of the same code again. */
void row_xip_code(uint32_t *values)
{
    CPU_REGISTER(XIP_FLUSH) = 1u;
    (void)CPU_REGISTER(XIP_FLUSH); /* returns when it is done */
    for (unsigned time = 0; time < 2; time++) {
        values[time] = straight();
    }
}

/* Returns the pointer of 16 bits at an address near the beginning of the ROM. The compiler must not know the address:
 * it would take the access for one through a null pointer. */
static uintptr_t rom_pointer(uintptr_t place)
{
    __asm volatile("" : "+r"(place));
    return *(const volatile uint16_t *)place;
}

/* Measures row `rom_bits`: cycles of the ROM's functions for population count, leading and
 * trailing zeros, and reversal. */
void row_rom_bits(uint32_t *values)
{
    static const uint16_t codes[] = {ROM_CODE('P', '3'), ROM_CODE('L', '3'), ROM_CODE('T', '3'), ROM_CODE('R', '3')};
    const uint16_t *table = (const uint16_t *)rom_pointer(ROM_TABLE_OF_FUNCTIONS);
    void *(*lookup)(const uint16_t *, uint32_t) = (void *(*)(const uint16_t *, uint32_t))rom_pointer(ROM_TABLE_LOOKUP);

    for (unsigned i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        uint32_t (*function)(uint32_t) = (uint32_t(*)(uint32_t))(uintptr_t)lookup(table, codes[i]);
        uint32_t from = cpu_ruler_read();

        (void)function(0x00F0CC00u);
        values[i] = cpu_ruler_cycles(from, cpu_ruler_read());
    }
}

#endif
