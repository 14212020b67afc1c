/* Rows by name, each in the file of its subject. */
#pragma once

#include <stdint.h>

#define ROWS_ALWAYS(X)                                                                                                    \
    X(ruler, 1) X(alu, 1) X(multiply, 1) X(mrs, 1) X(msr, 1) X(cps, 1) X(dsb, 1) X(isb, 1) X(branch_taken, 1)               \
    X(branch_passed, 1) X(call, 1) X(fetch_sram, 1) X(load, 2) X(store, 2) X(multiple, 2) X(literal, 1) X(flash_cold, 2) \
    X(entry, 1) X(exit, 1) X(tail_chain, 1) X(late_handler, 80) X(late_return, 80)

/* Only where the board has a register for it. */
#define ROWS_OF_IO_PORT(X) X(io_port, 2)
#define ROWS_OF_BUSES(X) X(ahb_read, 1) X(ahb_write, 1) X(apb1_read, 8) X(apb2_read, 8)
#define ROWS_OF_DIVIDED_APB2(X) X(apb2_divided, 8)
#define ROWS_OF_RP2040(X) \
    X(apb_read, 1) X(apb_write, 1) X(apb_alias, 2) X(fast_read, 1) X(xip_word, 1) X(xip_line, 1) X(xip_code, 2) X(rom_bits, 4) \
    X(two_cores, 2)

#define DECLARE(name, count) void row_##name(uint32_t *values);
ROWS_ALWAYS(DECLARE)
ROWS_OF_IO_PORT(DECLARE)
ROWS_OF_BUSES(DECLARE)
ROWS_OF_DIVIDED_APB2(DECLARE)
ROWS_OF_RP2040(DECLARE)
#undef DECLARE
