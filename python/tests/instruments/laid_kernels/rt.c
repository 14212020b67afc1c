#include "laid.h"

struct rt_list { struct rt_list *prev, *next; };
struct rt_task {
    struct rt_list list, sleep_list; void *ctx; word priority; void *stack; word stack_size; const char *name;
    struct rt_list global_task_list;
};
word stack[64] = {[2] = LOW, HIGH, CORE_FRAME}, spoilt[40];
extern struct rt_list rt_global_task_list;
extern struct rt_task alpha, beta, gamma;
struct rt_task alpha = {.name = "alpha", .priority = 3, .global_task_list = {0, &beta.global_task_list}};
struct rt_task beta = {.name = "beta", .priority = 4, .global_task_list = {0, &gamma.global_task_list}, .ctx = stack + 2,
    .stack = stack, .stack_size = sizeof stack};
struct rt_task gamma = {.name = "gamma", .ctx = spoilt, .global_task_list = {0, &rt_global_task_list}};
struct rt_list rt_global_task_list = {0, &alpha.global_task_list};
struct rt_task *rt_active_task = &alpha;
FUNCTION(rt_tick_count) FUNCTION(rt_task_yield) FUNCTION(rt_task_sleep)
#define BETA beta
#define GAMMA gamma

END
