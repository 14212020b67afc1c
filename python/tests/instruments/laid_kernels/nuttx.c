#include "laid.h"

struct xcptcontext { word *regs; };
struct tcb_s {
    struct tcb_s *flink; word pid; uint8_t sched_priority; void *stack_base_ptr; word adj_stack_size; struct xcptcontext xcp; char name[16];
};
word stack[64] = {[2] = 0, 0xF0, LOW, HIGH, 0xFFFFFFFD, CORE_FRAME}, spoilt[40];
struct tcb_s alpha = {.name = "alpha", .sched_priority = 100}, gamma = {.name = "gamma", .xcp = {spoilt}};
struct tcb_s beta = {.name = "beta", .sched_priority = 99, .xcp = {stack + 2}, .stack_base_ptr = stack, .adj_stack_size = sizeof stack};
struct tcb_s *hash[4] = {&alpha, 0, &beta, &gamma}, **g_pidhash = hash, *g_running_tasks[1] = {&alpha};
volatile int g_npidhash = 4;
FUNCTION(nxsched_process_timer) FUNCTION(clock_systime_ticks) FUNCTION(sched_yield)
#define BETA beta
#define GAMMA gamma

END
