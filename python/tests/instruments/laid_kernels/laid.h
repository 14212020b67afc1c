/* A frame's registers are their numbers: R0 is 0x100, R4 is 0x44. */
#include <stdint.h>
extern uint32_t _stack;
void reset(void), waits(void);
__attribute__((section(".vectors"), used)) void *const vectors[16] = {&_stack, reset, [2 ... 15] = reset};
extern char waits_pc; /* a label inside, without the Thumb bit */
__attribute__((noipa, used)) void waits(void) { __asm volatile(".globl waits_pc\nwaits_pc:"); for (;;) {} }
/* A function in assembly often has no size. A task stands in the middle of this one. */
__asm(".thumb\n.thumb_func\n.globl unsized\n.type unsized, %function\nunsized:\n nop\n nop\n"
      ".globl unsized_pc\nunsized_pc:\n b unsized_pc");
extern char unsized_pc;
typedef uint32_t word;
#define CORE_FRAME 0x100, 0x101, 0x102, 0x103, 0x112, (word)waits, (word)&waits_pc, 0x01000000
#define CORE_FRAME_UNSIZED 0x100, 0x101, 0x102, 0x103, 0x112, (word)&unsized_pc + 1, (word)&unsized_pc, 0x01000000
#define FLOATS(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define FLOATS16(n) FLOATS(n), FLOATS((n) + 8)
#define LOW 0x44, 0x45, 0x46, 0x47
#define HIGH 0x48, 0x49, 0x4a, 0x4b
#define FUNCTION(name) __attribute__((used)) void name(void) { for (;;) {} }
#ifndef SETUP
#define SETUP
#endif
#define END \
    void reset(void) { \
        SETUP __asm volatile("" : : "r"(&BETA), "r"(&GAMMA) : "memory"); \
        for (;;) {} \
    }
