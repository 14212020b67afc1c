#define SETUP beta.callee_saved.psp = (word)(stack + 2); beta.stack_info.start = (word)stack; gamma.callee_saved.psp = (word)spoilt;
#include "laid.h"

struct _callee_saved { word v1, v2, v3, v4, v5, v6, v7, v8, psp; };
struct k_thread {
    struct { word flags; int8_t prio; } base; struct _callee_saved callee_saved; struct k_thread *next_thread; char name[12];
    struct { word start, size; } stack_info; struct { union { word mode; struct { uint8_t mode_bits, mode_exc_return; }; }; } arch;
};
struct z_kernel { word nested; void *irq_stack; struct k_thread *current, *idle; struct k_thread *threads; };
word stack[64] = {[2] = CORE_FRAME}, spoilt[40];
extern struct k_thread alpha, beta, gamma;
struct k_thread alpha = {.name = "alpha", .next_thread = &beta, .base = {.prio = 3}};
struct k_thread beta = {.name = "beta", .next_thread = &gamma, .base = {.prio = -4}, .callee_saved = {LOW, HIGH},
    .stack_info = {0, sizeof stack}, .arch = {{.mode = 0xFD00}}};
struct k_thread gamma = {.name = "gamma"};
struct z_kernel _kernel = {.current = &alpha, .threads = &alpha};
__asm(".globl ___cpu_t_current_OFFSET\n.set ___cpu_t_current_OFFSET, 8");
FUNCTION(sys_clock_announce) FUNCTION(z_impl_k_uptime_ticks) FUNCTION(z_impl_k_yield) FUNCTION(z_impl_k_sleep)
#define BETA beta
#define GAMMA gamma

END
