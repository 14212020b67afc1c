#include "laid.h"

struct rt_list_node { struct rt_list_node *next, *prev; };
struct rt_object_information { word type; struct rt_list_node object_list; word object_size; };
struct rt_thread {
    char name[8]; uint8_t type, flags; struct rt_list_node list, tlist; void *sp, *entry, *parameter, *stack_addr;
    word stack_size; uint8_t current_priority;
};
word stack[64] = {[2] = 1, LOW, HIGH, FLOATS16(0x200), CORE_FRAME_UNSIZED, FLOATS16(0x300), 0x700}, spoilt[40];
extern struct rt_object_information _object_container[2];
extern struct rt_thread alpha, beta, gamma;
struct rt_thread alpha = {.name = "alpha", .current_priority = 3, .list = {&beta.list}};
struct rt_thread beta = {.name = "beta", .current_priority = 4, .list = {&gamma.list},
    .sp = stack + 2, .stack_addr = stack, .stack_size = sizeof stack};
struct rt_thread gamma = {.name = "gamma", .sp = spoilt, .list = {&_object_container[0].object_list}};
struct rt_object_information _object_container[2] = {{1, {&alpha.list}}, {2, {&_object_container[1].object_list}}};
struct rt_thread *rt_current_thread = &alpha;
FUNCTION(rt_tick_get) FUNCTION(rt_hw_interrupt_disable) FUNCTION(rt_thread_delay)
#define BETA beta
#define GAMMA gamma

END
