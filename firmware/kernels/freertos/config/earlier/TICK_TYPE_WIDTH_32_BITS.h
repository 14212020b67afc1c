/* The width of ticks is told by a flag. */
#pragma once

#define configUSE_16_BIT_TICKS 0
