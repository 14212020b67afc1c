/* TM1, basic processing as Thread-Metric means it: one task per core works through an array and counts the passes. T1
 * computes something else, so the two are never compared.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one pass, of some turns over the array: each word is read, the number of the pass is read and added
 *                    to it, what the word was is taken out bit by bit, and the result is written; all in memory, nothing
 *                    kept in registers from one word to the next. Then the run flag, the count, the kernel's tick. No
 *                    kernel call.
 * Excluded           filling the array, checking it.
 *
 * A pass works on 1024 words, Thread-Metric's number: four times on 256, which every board has memory for.
 * The answer is checked on every word of a sample spread over the array, by working through the same passes again.
 *
 * Steps: 1 every word is worked on once in each turn, 2 the pass is counted, and again. */
#include "bench/bench.h"

#define WORDS BENCH_PARAM_WORDS
#define TURNS BENCH_PARAM_TURNS
#define SAMPLE 8u

_Static_assert(WORDS >= 8 && WORDS <= 4096 && WORDS % 8 == 0, "parameter words: a multiple of 8 from 8 to 4096");

static volatile uint32_t words[BENCH_CORES][WORDS];

/* Returns the initial value of a word of a core. */
static uint32_t seed(unsigned core, unsigned index)
{
    return index * 0x9E3779B9u + core;
}

/* Returns the value of a word after one more step of a pass. */
static inline uint32_t worked_on(uint32_t word, uint32_t pass)
{
    uint32_t sum = word + pass;

    return sum ^ word;
}

/* Prepares a task of the benchmark, once, on the task's own core. Returns false if that fails. */
static bool prepare(struct bench_task *self)
{
    for (unsigned i = 0; i < WORDS; i++) {
        words[self->core][i] = seed(self->core, i);
    }
    return true;
}

/* Does the work of each task. Called for the warm-up, and again for the measured window. */
static void body(struct bench_task *self)
{
    volatile uint32_t *begin = words[self->core], *end = begin + WORDS;

    while (bench_running()) {
        for (unsigned turn = 0; turn < TURNS; turn++) { /* 1 */
            for (volatile uint32_t *word = begin; word != end; word++) {
                *word = worked_on(*word, self->count);
            }
        }
        bench_count(self); /* 2 */
    }
}

/* Returns whether a word differs from its expected value after so many passes. */
static bool is_wrong(unsigned core, unsigned index, uint32_t passes)
{
    uint32_t word = seed(core, index);

    for (uint32_t pass = 0; pass < passes; pass++) {
        for (unsigned turn = 0; turn < TURNS; turn++) {
            word = worked_on(word, pass);
        }
    }
    return word != words[core][index];
}

/* Sends how many of some words are wrong: it checks one word of each eighth of the array, and the
 * last word is among them. */
static void report(unsigned core)
{
    uint32_t passes = bench_task(core, 0)->count, wrong = 0;

    for (unsigned i = 0; i < SAMPLE; i++) {
        wrong += is_wrong(core, (i + 1u) * (WORDS / SAMPLE) - 1u, passes) ? 1 : 0;
    }
    bench_check("wrong_words", core, wrong);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
