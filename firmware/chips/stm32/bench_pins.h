/* The measurement's pins, called once at start-up. */
#pragma once

/* Makes the benchmark's pins an output and an input. */
void pins_start(void);
