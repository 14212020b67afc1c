/* The measurement's pins, called once at start-up. */
#pragma once

void pins_start(void);
