/* The two registers that a measured path touches; apart, because benchmarks get to see them. */
#pragma once

#define PIN_BSRR(port) (0x50000018u + 0x400u * (port))
#define PIN_EXTI_PENDING 0x40010414u
