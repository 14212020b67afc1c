/* A software timer, which the port contract does not know: other kernels here have none. */
#include "bench_footprint.h"

#include "timers.h"

static TimerHandle_t timer;
static volatile uint32_t expired;

/* Runs when the software timer expires. */
static void expire(TimerHandle_t which)
{
    (void)which;
    expired = expired + 1u;
}

/* Creates the software timer. Returns false if there is no memory. */
bool footprint_prepare(void)
{
    timer = xTimerCreate("timer", 2, pdTRUE, NULL, expire);
    return timer != NULL;
}

/* Starts the software timer. */
void footprint_use(void)
{
    (void)xTimerStart(timer, 0);
}
