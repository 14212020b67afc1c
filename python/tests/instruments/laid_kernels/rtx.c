#define SETUP beta.sp = (word)(stack + 2); gamma.sp = (word)spoilt;
#include "laid.h"

typedef struct osRtxThread_s {
    uint8_t id, state, flags, attr; const char *name; struct osRtxThread_s *thread_next, *thread_prev, *delay_next, *delay_prev;
    struct osRtxThread_s *thread_join; word delay; int8_t priority, priority_base; uint8_t stack_frame, flags_options;
    word wait_flags, thread_flags; void *mutex_list, *stack_mem; word stack_size, sp;
} osRtxThread_t;
typedef struct { uint8_t id, state, flags, attr; const char *name; osRtxThread_t *thread_list; } osRtxObject_t;
typedef struct {
    const char *os_id; word version; struct { uint8_t state, blocked, pendSV, reserved; word tick; } kernel; int32_t tick_irqn;
    struct {
        struct { osRtxThread_t *curr, *next; } run; osRtxObject_t ready; osRtxThread_t *idle, *delay_list, *wait_list, *terminate_list;
    } thread;
} osRtxInfo_t;
word stack[64] = {[2] = FLOATS16(0x200), LOW, HIGH, CORE_FRAME, FLOATS16(0x300), 0x700}, spoilt[40];
osRtxThread_t alpha = {.name = "alpha", .priority = 24}, gamma = {.name = "gamma", .stack_frame = 0xFD, .sp = 1};
osRtxThread_t beta = {.name = "beta", .priority = -4, .stack_frame = 0xED, .sp = 0, .stack_mem = stack, .stack_size = sizeof stack};
osRtxInfo_t osRtxInfo = {.thread = {{&alpha, &alpha}, .ready = {.thread_list = &gamma}, .wait_list = &beta}};
FUNCTION(osKernelGetTickCount) FUNCTION(osThreadYield) FUNCTION(osDelay) FUNCTION(osDelayUntil)
#define BETA beta
#define GAMMA gamma

END
