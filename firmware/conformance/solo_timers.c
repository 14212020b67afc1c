/* Scenes of the optional service timer, for one flow of control in a task. */
#include "bench_conformance.h"

#if SUITE_HAS_TIMER
#include "bench/timer.h"

#define SHORT_TICKS 1u
#define LONG_TICKS 5u
#define PERIOD_TICKS 3u
#define CALLS_MAX 8u

static port_timer_t short_timer, long_timer, periodic_timer;
static volatile uint32_t start_tick, calls, call_ticks[CALLS_MAX];
static volatile bool in_handler;

/* Returns whether a handler runs, by the core's own register. */
static bool is_in_handler(void)
{
    uint32_t exception;

    __asm volatile("mrs %0, IPSR" : "=r"(exception));
    return exception != 0;
}

/* Notes the tick of a timer's call. The kernel calls it when a timer expires. */
static PORT_TIMER_CALLBACK(expired)
{
    if (calls < CALLS_MAX) {
        call_ticks[calls] = port_tick_now() - start_tick;
    }
    calls = calls + 1u;
    in_handler = is_in_handler();
}

/* Creates the timers, once. */
static void make_timers(void)
{
    static bool made;

    if (!made && !(port_timer_create(&short_timer, expired, SHORT_TICKS, false) &&
                   port_timer_create(&long_timer, expired, LONG_TICKS, false) &&
                   port_timer_create(&periodic_timer, expired, PERIOD_TICKS, true))) {
        last_words_error(ERROR_PREPARE, "a timer of the conformance suite");
    }
    made = true;
}

/* Starts a timer right behind a tick. */
static void start(port_timer_t *timer)
{
    make_timers();
    port_sleep_ticks(1);
    calls = 0;
    start_tick = port_tick_now();
    note(port_timer_start(timer) ? 1 : 0);
}

/* Notes the ticks of the calls so far, and how many they were. */
static void note_calls(void)
{
    for (uint32_t i = 0; i < calls && i < CALLS_MAX; i++) {
        note(call_ticks[i]);
    }
    note(calls);
}

/* Plays a scene: notes on which tick each of two timers calls, and that they do so once, at the first
 * start and at a second one. */
static void timer_once(void)
{
    for (unsigned i = 0; i < 2u; i++) {
        start(&short_timer);
        port_sleep_ticks(3u * SHORT_TICKS + 1u);
        note_calls();
        start(&long_timer);
        port_sleep_ticks(3u * LONG_TICKS + 1u);
        note_calls();
    }
}

/* Plays a scene: notes on which ticks a periodic timer calls until it is stopped, and that it calls no more then. */
static void timer_periodic(void)
{
    start(&periodic_timer);
    port_sleep_ticks(4u * PERIOD_TICKS + 1u);
    note(port_timer_stop(&periodic_timer) ? 1 : 0);
    note_calls();
    port_sleep_ticks(3u * PERIOD_TICKS);
    note(calls);
}

/* Plays a scene: a timer is stopped before its tick and calls nothing. Started again it runs for its whole length. */
static void timer_stops(void)
{
    start(&long_timer);
    port_sleep_ticks(LONG_TICKS - 2u);
    note(port_timer_stop(&long_timer) ? 1 : 0);
    port_sleep_ticks(2u * LONG_TICKS);
    note_calls();
    start(&long_timer);
    port_sleep_ticks(2u * LONG_TICKS);
    note_calls();
}

/* Plays a scene: notes 1 if a handler called the function, 0 if a task did. */
static void timer_context(void)
{
    start(&short_timer);
    port_sleep_ticks(3u * SHORT_TICKS + 1u);
    note(in_handler ? 1 : 0);
}

#endif

const struct solo timer_solos[] = {
#if SUITE_HAS_TIMER
    {"timer_once", timer_once, true},
    {"timer_periodic", timer_periodic, true},
    {"timer_stops", timer_stops, true},
    {"timer_context", timer_context, true},
#endif
    {NULL, NULL, false}, /* a kernel may lack the service */
};
const size_t timer_solo_count = sizeof timer_solos / sizeof timer_solos[0] - 1u;
