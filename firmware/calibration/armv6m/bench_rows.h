/* Rows by name, each in the file of its subject. */
#pragma once

#include <stdint.h>

#define RULER CPU_SYST_CVR
#define RULER_TEXT "0xE000E018"
#define RULER_IS_SYSTICK 1

#define ROWS_ALWAYS(X)                                                                                                \
    X(ruler, 1) X(alu, 1) X(multiply, 1) X(mrs, 1) X(msr, 1) X(cps, 1) X(dsb, 1) X(isb, 1) X(branch_taken, 1)             \
    X(branch_not_taken, 1) X(call, 1) X(fetch_sram, 1) X(load, 2) X(store, 2) X(multiple, 2) X(literal, 1)              \
    X(flash_straight, 2) X(ahb_read, 1) X(ahb_write, 1) X(apb1_read, 8) X(apb2_read, 8) X(entry, 1) X(exit, 1)          \
    X(tail_chain, 1) X(late_handler, 80) X(late_return, 80)

/* Where a register says by how much the peripherals' clock is divided: the same with a divided one. */
#define ROWS_OF_A_DIVIDER(X) X(apb1_divided, 8)

/* RP2040. */
#define ROWS_OF_XIP(X) X(apb_write, 1) X(apb_alias, 1) X(xip_word, 1) X(xip_line, 1)

#define DECLARE(name, count) void row_##name(uint32_t *values);
ROWS_ALWAYS(DECLARE)
ROWS_OF_A_DIVIDER(DECLARE)
ROWS_OF_XIP(DECLARE)
#undef DECLARE
