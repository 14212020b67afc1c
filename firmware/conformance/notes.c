/* The notes of one scene. */
#include "bench_conformance.h"

#define NOTES_MAX 48u
#define NOTES_A_LINE 12u

static uint32_t notes[NOTES_MAX];
static uint32_t count;

void (*volatile on_interrupt)(void);
volatile uint32_t bench_window_state;

void BOARD_SOFT_IRQ_HANDLER(void);

/* Handles the software interrupt: calls what a scene has set in `on_interrupt`. */
void BOARD_SOFT_IRQ_HANDLER(void)
{
    port_isr_enter();
    on_interrupt();
    port_isr_exit();
}

/* Sets what the software interrupt's handler does, and enables the interrupt. */
void arm_interrupt(void (*act)(void))
{
    on_interrupt = act;
    board_soft_irq_enable(PORT_ISR_URGENCY);
}

/* Appends a value to the notes of the current scene. It masks interrupts itself, because a task may be preempted by
 * another one that notes, and the kernel's critical section is under test. */
void note(uint32_t value)
{
    uint32_t masked = cpu_mask_interrupts();

    if (count < NOTES_MAX) {
        notes[count] = value;
        count++;
    }
    cpu_restore_interrupts(masked);
}

/* Returns the FNV-1a hash of a name, by which the host names scenes to leave out. */
static uint32_t hash_of_name(const char *text)
{
    uint32_t hashed = 2166136261u; /* FNV-1a, as the host has it */

    for (; *text != '\0'; text++) {
        hashed = (hashed ^ (uint8_t)*text) * 16777619u;
    }
    return hashed;
}

/* Returns whether the host asked to leave this scene out. */
static bool is_scene_left_out(const char *scene)
{
    static const uint32_t asked[] = {
        BENCH_PARAM_LEAVE_OUT_0, BENCH_PARAM_LEAVE_OUT_1, BENCH_PARAM_LEAVE_OUT_2, BENCH_PARAM_LEAVE_OUT_3,
        BENCH_PARAM_LEAVE_OUT_4, BENCH_PARAM_LEAVE_OUT_5, BENCH_PARAM_LEAVE_OUT_6, BENCH_PARAM_LEAVE_OUT_7,
    };

    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (asked[i] == hash_of_name(scene)) {
            return true;
        }
    }
    return false;
}

/* Announces a scene to the host. Returns false if it is to be left out. */
bool scene_begins(const char *scene, unsigned core)
{
    if (is_scene_left_out(scene)) {
        return false;
    }
    wire_begin(&output, "check");
    wire_text(&output, "name", scene);
    wire_number(&output, "core", core);
    wire_number(&output, "value", 1);
    output_end();
    return true;
}

/* Sends the notes of a scene, and empties the list. */
void notes_send(const char *scene, unsigned core)
{
    uint32_t sent = 0;
    char metric[32];
    size_t length = 0;

    while (scene[length] != '\0' && length < sizeof metric - 3u) {
        metric[length] = scene[length];
        length++;
    }
    metric[length] = '/';
    metric[length + 1u] = (char)('0' + (char)core);
    metric[length + 2u] = '\0';
    while (sent < count) {
        uint32_t share = count - sent < NOTES_A_LINE ? count - sent : NOTES_A_LINE;

        wire_begin(&output, "sample");
        wire_text(&output, "metric", metric);
        wire_number(&output, "n", share);
        wire_key(&output, "values");
        for (uint32_t i = 0; i < share; i++) {
            wire_list_number(&output, i == 0, notes[sent + i]);
        }
        output_end();
        sent += share;
    }
    count = 0;
}
