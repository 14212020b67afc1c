/* A software timer, which the port contract does not know: other kernels here have none. */
#include "bench_footprint.h"

#include "timers.h"

static TimerHandle_t timer;
static volatile uint32_t expired;

static void expire(TimerHandle_t which)
{
    (void)which;
    expired = expired + 1u;
}

bool footprint_prepare(void)
{
    timer = xTimerCreate("timer", 2, pdTRUE, NULL, expire);
    return timer != NULL;
}

void footprint_use(void)
{
    (void)xTimerStart(timer, 0);
}
