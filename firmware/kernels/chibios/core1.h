/* The second core: what port.c needs of core1.c. */
#pragma once

/* The stack of the second core's first thread. It makes its instance of the kernel, and then only waits. */
#define CORE1_STACK_BYTES 512u
/* What the second core's instance takes, as part of the board's allowance. */
#define PIECES_ELSEWHERE_BYTES \
    (CORE1_STACK_BYTES + sizeof(os_instance_t) + THD_WORKING_AREA_SIZE(PORT_IDLE_THREAD_STACK_SIZE))

/* Starts the second core, before the kernel starts on the first one. */
void core1_launch(void);

/* Lets the second core make its instance of the kernel, and waits until threads can be created for it. */
void core1_join(void);

/* Lets the second core run its threads, with ticks of so many cycles. */
void core1_release(uint32_t tick_cycles);
