/* What a switch must carry over and what a port says of it: interrupts that preempt, floating-point registers, stacks. */
#include <string.h>

#include "bench_scene.h"

#if KERNEL_SERVICES_SEMAPHORE
/* Notes 2 and gives the semaphore, in the handler. Scene isr_preempts notes 1 before the interrupt, 2 in the handler, 3
 * in the more urgent task that it wakes, and 4 after the interrupt. */
static void give_in_handler(void)
{
    note(2);
    port_semaphore_give_from_isr(&semaphores[0]);
}

/* Waits for the semaphore and notes 3. */
static void take_and_note_3(void)
{
    (void)port_semaphore_take(&semaphores[0]);
    note(3);
}

/* Notes 1, pends the interrupt, and notes 4. */
static void pend_between_notes(void)
{
    port_sleep_ticks(LATER_TICKS);
    on_interrupt = give_in_handler;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    note(1);
    board_soft_irq_pend();
    note(4);
}
#endif

#if KERNEL_SERVICES_RESUME_FROM_ISR
/* Notes 2 and resumes the urgent task, in the handler. Scene isr_resumes notes the same as isr_preempts, but the
 * handler resumes a suspended task. */
static void resume_in_handler(void)
{
    note(2);
    port_resume_from_isr(worker(HIGH)->handle);
}

/* Suspends itself, and notes 3 when it is resumed. */
static void suspend_and_note_3(void)
{
    port_suspend_self(worker(HIGH)->handle);
    note(3);
}

/* Notes 1, pends the interrupt whose handler resumes a task, and notes 4. */
static void pend_to_resume(void)
{
    port_sleep_ticks(LATER_TICKS);
    on_interrupt = resume_in_handler;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    note(1);
    board_soft_irq_pend();
    note(4);
}
#endif

#if KERNEL_SERVICES_NOTIFY_FROM_ISR
/* Notes 2 and notifies the urgent task, in the handler. Scene isr_notifies notes the same as isr_preempts for a task
 * that waits for a notification. A notification from a handler before the take must be kept (5 6 7). */
static void notify_waiting_in_handler(void)
{
    note(2);
    port_notify_give_from_isr(worker(HIGH)->handle);
}

/* Notes 5 and notifies a task that does not wait yet, in the handler. */
static void notify_early_in_handler(void)
{
    note(5);
    port_notify_give_from_isr(worker(MID_A)->handle);
}

/* Waits for a notification and notes 3. */
static void take_notification_and_note_3(void)
{
    port_notify_take(worker(HIGH)->handle);
    note(3);
}

/* Takes a notification that came before, and notes 7. */
static void take_late_and_note_7(void)
{
    port_sleep_ticks(3u * LATER_TICKS);
    port_notify_take(worker(MID_A)->handle);
    note(7);
}

/* Notes 1, pends the interrupt whose handler notifies a waiting task, notes 4, and does so again for a task that does
 * not wait yet. */
static void pend_to_notify(void)
{
    port_sleep_ticks(LATER_TICKS);
    on_interrupt = notify_waiting_in_handler;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    note(1);
    board_soft_irq_pend();
    note(4);
    on_interrupt = notify_early_in_handler;
    board_soft_irq_pend();
    note(6);
}
#endif

#if defined(__ARM_FP) && KERNEL_SERVICES_SEMAPHORE
#define FP_REGISTERS 32u

static uint32_t low_pattern[FP_REGISTERS], low_found[FP_REGISTERS], other_pattern[FP_REGISTERS];

#define ALL_FP_REGISTERS                                                                                              \
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16",      \
        "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

/* Loads all floating-point registers from a pattern. */
static void fill_fp_registers(const uint32_t *pattern)
{
    __asm volatile("vldmia %0, {s0-s31}" : : "r"(pattern) : "memory", ALL_FP_REGISTERS);
}

/* Fills a pattern with consecutive numbers from `first` on. */
static void fill_pattern(uint32_t *pattern, uint32_t first)
{
    for (uint32_t i = 0; i < FP_REGISTERS; i++) {
        pattern[i] = first + i;
    }
}

/* Notes 2 and gives the semaphore, in a handler that uses floating-point registers too, so that what is stacked lazily
 * must be stacked. */
static void give_with_fp_in_handler(void)
{
    fill_fp_registers(other_pattern);
    note(2);
    port_semaphore_give_from_isr(&semaphores[0]);
}

/* Waits for the semaphore, changes all floating-point registers, and notes 3. */
static void take_and_fill(void)
{
    (void)port_semaphore_take(&semaphores[0]);
    fill_fp_registers(other_pattern);
    note(3);
}

/* Fills the floating-point registers, lets a handler and a task preempt it that fill them otherwise, and notes how many
 * registers have changed. It reads them without a call in between. This is the last note of scene fp_registers. */
static void keep_fp_registers(void)
{
    uint32_t wrong = 0;

    port_sleep_ticks(LATER_TICKS);
    fill_pattern(low_pattern, 0x3F800000u);
    fill_pattern(other_pattern, 0xC1200000u);
    on_interrupt = give_with_fp_in_handler;
    board_soft_irq_enable(PORT_ISR_URGENCY);
    note(1);
    __asm volatile("vldmia %0, {s0-s31}\n\t"
                   "str %2, [%1]\n\t"
                   "dsb\n\t"
                   "isb\n\t"
                   "vstmia %3, {s0-s31}"
                   :
                   : "r"(low_pattern), "r"(&CPU_NVIC_ISPR(BOARD_IRQ_SOFT >> 5)), "r"(1u << (BOARD_IRQ_SOFT & 31u)),
                     "r"(low_found)
                   : "memory", ALL_FP_REGISTERS);
    note(4);
    for (uint32_t i = 0; i < FP_REGISTERS; i++) {
        wrong += low_found[i] != low_pattern[i];
    }
    note(wrong);
}
#endif

/* stack_figures: the bytes used before, after more were than any scene uses, and the size. */
#define DEEPER_BYTES (BENCH_STACK_BYTES >= 1024 ? 448u : 192u) /* some kernels save every register on it */

/* Uses more stack than any scene, and notes the bytes used. */
static __attribute__((noinline)) void use_stack(void)
{
    uint8_t deeper[DEEPER_BYTES];

    memset(deeper, 1, sizeof deeper);
    __asm volatile("" : : "r"(deeper) : "memory"); /* somebody might look at it: it stays */
    note(port_stack_used_bytes(worker(MID_C)->handle, BENCH_STACK_BYTES));
}

/* Plays scene stack_figures: notes the bytes of stack used before and after a deep call, and the stack's size. */
static void measure_stack_use(void)
{
    note(port_stack_used_bytes(worker(MID_C)->handle, BENCH_STACK_BYTES));
    use_stack();
    note(BENCH_STACK_BYTES);
}

const struct scene context_scenes[] = {
#if KERNEL_SERVICES_SEMAPHORE
    {"isr_preempts", {pend_between_notes, NULL, take_and_note_3, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_RESUME_FROM_ISR
    {"isr_resumes", {pend_to_resume, NULL, suspend_and_note_3, NULL, NULL}, NULL},
#endif
#if KERNEL_SERVICES_NOTIFY_FROM_ISR
    {"isr_notifies", {pend_to_notify, take_late_and_note_7, take_notification_and_note_3, NULL, NULL}, NULL},
#endif
#if defined(__ARM_FP) && KERNEL_SERVICES_SEMAPHORE
    {"fp_registers", {keep_fp_registers, NULL, take_and_fill, NULL, NULL}, NULL},
#endif
    {"stack_figures", {NULL, NULL, NULL, NULL, measure_stack_use}, NULL},
};
const size_t context_scene_count = sizeof context_scenes / sizeof context_scenes[0];
