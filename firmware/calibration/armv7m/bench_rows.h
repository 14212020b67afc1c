/* Rows by name, each in the file of its subject. */
#pragma once

#include <stdint.h>

#define ROWS_ALWAYS(X)                                                                                                   \
    X(ruler, 1) X(alu, 1) X(alu_wide, 1) X(multiply_long, 1) X(divide, 9) X(mrs, 1) X(msr, 1) X(cps, 1) X(table_branch, 1) \
    X(it, 1) X(dsb, 1) X(isb, 1) X(branch_taken, 1) X(branch_not_taken, 1) X(call, 1) X(fetch_sram, 1) X(load, 2)          \
    X(store, 2) X(literal, 1) X(flash_cold, 2) X(entry, 1) X(exit, 1) X(tail_chain, 1) X(late_handler, 80)                 \
    X(late_return, 80)

/* Only where the board has a register for it. */
#define ROWS_OF_BUSES(X) X(ahb_read, 1) X(ahb_write, 1) X(apb1_read, 8) X(apb2_read, 8)

/* Only of a Cortex-M7, and of one whose peripherals lie in several domains. */
#define ROWS_OF_M7(X) X(axi_ram, 2) X(axi_flash, 5) X(axi_code, 2) X(branch_unknown, 1) X(store_to_load, 5)
#define ROWS_OF_DOMAINS(X) X(near_read, 1) X(near_write, 1)
#define ROWS_OF_DIVIDED_APB2(X) X(apb2_divided, 8)

#define DECLARE(name, count) void row_##name(uint32_t *values);
ROWS_ALWAYS(DECLARE)
ROWS_OF_BUSES(DECLARE)
ROWS_OF_M7(DECLARE)
ROWS_OF_DOMAINS(DECLARE)
ROWS_OF_DIVIDED_APB2(DECLARE)
DECLARE(bit_band_stores, 1)
#undef DECLARE
