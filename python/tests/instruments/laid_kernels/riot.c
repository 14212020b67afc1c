#include "laid.h"

typedef struct _thread {
    char *sp; word status; uint8_t priority; int16_t pid; char *stack_start; const char *name; int stack_size;
} thread_t;
word stack[64] = {[2] = LOW, HIGH, 0xFFFFFFFD, CORE_FRAME}, spoilt[40];
thread_t alpha = {.name = "alpha", .priority = 3, .pid = 1}, gamma = {.name = "gamma", .sp = (char *)spoilt};
thread_t beta = {.name = "beta", .priority = 4, .sp = (char *)(stack + 2), .stack_start = (char *)stack, .stack_size = sizeof stack};
thread_t *sched_threads[5] = {0, &alpha, &beta, 0, &gamma}, *sched_active_thread = &alpha;
FUNCTION(thread_yield) FUNCTION(ztimer_sleep) FUNCTION(sched_change_priority)
#define BETA beta
#define GAMMA gamma

END
