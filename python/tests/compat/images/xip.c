/* The cache's counters, as a program looks at them: clear both, execute, read both. */
#include "kit.h"

#define CTR_HIT (XIP_CTRL + 0x0c)
#define CTR_ACC (XIP_CTRL + 0x10)

static const uint32_t table[64] __attribute__((aligned(8))) = {1, 2, 3};

/* Two instructions in one word, executed 1,000 times: each taken branch fetches the word again. */
NOINLINE static void spin(void) {
    __asm__ volatile("ldr r3, =1000\n.balign 4\n1: sub r3, #1\nbne 1b" ::: "r3", "cc");
}

/* So many loads of data from flash, by code in RAM: each word is filled the first time and found the second. */
IN_RAM static uint32_t sum(const uint32_t *from, uint32_t words) {
    uint32_t total = 0;
    for (uint32_t at = 0; at < words; at++) {
        total += *(const volatile uint32_t *)&from[at];
    }
    return total;
}

IN_RAM static void flush_and_load(uint32_t *hits, uint32_t *accesses) {
    REG(XIP_CTRL + 4) = 1;
    REG(CTR_HIT) = 0;
    REG(CTR_ACC) = 0;
    (void)sum(table, 64);
    (void)sum(table, 64);
    *accesses = REG(CTR_ACC);
    *hits = REG(CTR_HIT);
}

static uint32_t words_of_spinning(void) {
    spin();
    uint32_t before = REG(CTR_ACC);
    spin();
    uint32_t after = REG(CTR_ACC);
    return after - before;
}

int main(void) {
    uint32_t hits, accesses;

    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    flush_and_load(&hits, &accesses);
    put_field("data_accesses", accesses);
    put_field("data_hits", hits);
    REG(CTR_HIT) = 0;
    REG(CTR_ACC) = 0;
    put_field("thousand", words_of_spinning() / 100);
    put_field("all_are_told", REG(CTR_HIT) <= REG(CTR_ACC) && REG(CTR_HIT) > REG(CTR_ACC) / 2);
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
