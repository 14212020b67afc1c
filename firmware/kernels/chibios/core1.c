/* The RP2040's second core: its start, and its instance of ChibiOS/RT. Compiled only for two cores. */
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"
#include "bench_cpu.h"

#include "core1.h"

#define PSM_FRCE_OFF CPU_REGISTER(0x40010004u)
#define PSM_FRCE_OFF_SET CPU_REGISTER(0x40010004u + 0x2000u)
#define PSM_FRCE_OFF_CLEAR CPU_REGISTER(0x40010004u + 0x3000u)
#define PSM_PROC1 (1u << 16)
/* The interrupt line by which core 1 interrupts core 0. */
#define CORE0_LINE 15u

/* A core that never answers (a board or a virtual board with one) must end in a record, not in silence. */
#define ANSWER_POLL_LIMIT 1000000u
#define HANDSHAKE_LIMIT 16u

extern unsigned char __core1_stack_top[];

static _Alignas(8) unsigned char core1_stack[CORE1_STACK_BYTES];
static volatile bool kernel_runs, is_ready;
static volatile uint32_t released_tick_cycles;

/* Makes the kernel's instance of this core, and becomes its most urgent thread until threads may run. Then it waits for
 * ever. It must have its own frame on the new stack, so it must not be expanded in its caller. */
__attribute__((noinline)) static void run_core1(void)
{
    thread_reference_t never = NULL;
    uint32_t tick_cycles;

    while (!kernel_runs) {
    }
    port_lock(); /* not chSysLock, whose checks need the instance that is made here */
    chInstanceObjectInit(&ch1, &ch_core1_cfg);
    chThdGetSelfX()->wabase = (stkalign_t *)(void *)core1_stack;
    chThdGetSelfX()->stack_bytes = sizeof core1_stack;
    chSysUnlock();
    (void)chThdSetPriority(HIGHPRIO);
    CPU_SCB_SHPR3 = (CPU_SCB_SHPR3 & ~CPU_SHPR3_SYSTICK(0xFFu)) | CPU_SHPR3_SYSTICK(CPU_LEAST_URGENT);
    is_ready = true;
    do {
        tick_cycles = released_tick_cycles;
    } while (tick_cycles == 0);
    cpu_systick_start(tick_cycles);
    chSysLock();
    (void)chThdSuspendS(&never);
    chSysUnlock();
}

/* The second core begins here. Its threads use the process stack, and what is its stack now is that of the handlers. */
static void start_on_core1(void)
{
    __disable_irq();
    __set_PSP((uint32_t)&core1_stack[sizeof core1_stack]);
    __set_CONTROL(2);
    __ISB();
    run_core1();
}

/* Reads a word from the other core. Returns false if there is none. */
static bool receive(uint32_t *word)
{
    for (uint32_t poll = 0; poll < ANSWER_POLL_LIMIT; poll++) {
        if ((SIO->FIFO_ST & SIO_FIFO_ST_VLD) != 0) {
            *word = SIO->FIFO_RD;
            return true;
        }
    }
    return false;
}

/* Drops all words from the other core. */
static void drain(void)
{
    while ((SIO->FIFO_ST & SIO_FIFO_ST_VLD) != 0) {
        (void)SIO->FIFO_RD;
    }
}

/* Resets core 1, and starts it by the handshake of its boot ROM, which echoes each word. */
void core1_launch(void)
{
    const uint32_t words[] = {0, 0, 1, CPU_SCB_VTOR, (uint32_t)__core1_stack_top, (uint32_t)start_on_core1};
    const unsigned count = sizeof words / sizeof words[0];
    unsigned at = 0;
    uint32_t greeting;

    PSM_FRCE_OFF_SET = PSM_PROC1;
    while ((PSM_FRCE_OFF & PSM_PROC1) == 0) {
    }
    drain();
    PSM_FRCE_OFF_CLEAR = PSM_PROC1;
    if (!receive(&greeting) || greeting != 0) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not come out of reset");
    }
    /* An echo that does not fit means that the boot ROM has started over, so the handshake does. */
    for (unsigned sent = 0; at < count && sent < count * HANDSHAKE_LIMIT; sent++) {
        uint32_t echo;

        if (words[at] == 0) {
            drain();
            __SEV();
        }
        SIO->FIFO_WR = words[at];
        __SEV();
        if (!receive(&echo)) {
            break;
        }
        at = echo == words[at] ? at + 1u : 0;
    }
    if (at < count) {
        last_words_error(ERROR_CORE1_SILENT, "core 1 did not answer the launch handshake");
    }
    /* The handshake's words have made the line pending, before the kernel can handle it. */
    CPU_NVIC_ICPR(0) = 1u << CORE0_LINE;
}

/* Lets the second core make its instance of the kernel, and waits until threads can be created for it. */
void core1_join(void)
{
    kernel_runs = true;
    for (uint32_t poll = 0; !is_ready; poll++) {
        if (poll == ANSWER_POLL_LIMIT) {
            last_words_error(ERROR_CORE1_SILENT, "core 1 did not start the kernel");
        }
    }
}

/* Lets the second core run its threads, with ticks of so many cycles. */
void core1_release(uint32_t tick_cycles)
{
    released_tick_cycles = tick_cycles;
}
