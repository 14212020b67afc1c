/* Base names the kernel's RP2040 port expects. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rp2040_config.h" /* the port's own, next to its portmacro.h */

#define PICO_SDK_VERSION_MAJOR 2 /* the generation of names this layer follows */
#define PICO_DIVIDER_DISABLE_INTERRUPTS (!configBENCH_SAVE_DIVIDER)

#ifndef __force_inline
#define __force_inline inline __attribute__((always_inline))
#endif

/* Returns the number of this core. */
static __force_inline uint32_t get_core_num(void)
{
    return *(const volatile uint32_t *)0xD0000000u; /* SIO CPUID */
}

/* The port calls it where a task function returns. */
_Noreturn void panic_unsupported(void);
