/* T1, basic processing: one task per core computes and counts.
 *
 * Starts the clock   the window opens while the task waits at the gate.
 * Ends the clock     the window closes, wherever the task is.
 * Inside by design   one pass over the words (one 32-bit multiply-add on every even word, one xorshift on every odd
 *                    one), the run flag, the count, and the kernel's tick. No kernel call.
 * Excluded           seeding the words, checking them.
 *
 * The answer is checked exactly although the number of passes is only known afterwards: both operations are linear (the
 * first over the integers modulo 2^32, the second over bits), so n passes can be composed in log2(n) steps.
 *
 * Steps: 1 every word is stepped once, 2 the pass is counted, and again. */
#include "bench/bench.h"

#define WORDS BENCH_PARAM_WORDS
#define MULTIPLIER 1664525u
#define INCREMENT 1013904223u

_Static_assert(WORDS >= 2 && WORDS <= 1024 && WORDS % 2 == 0, "parameter words: an even number from 2 to 1024");

static uint32_t words[BENCH_CORES][WORDS];

/* Returns the initial value of a word of a core. */
static uint32_t seed(unsigned core, unsigned index)
{
    return (index + 1u) * 0x9E3779B9u + core; /* never 0 for the indexes here: xorshift would stay there */
}

/* Returns the next number of an xorshift generator after `x`. */
static inline uint32_t xorshift(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
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
    uint32_t *word = words[self->core];

    while (bench_running()) {
        for (unsigned i = 0; i < WORDS; i += 2) { /* 1 */
            word[i] = word[i] * MULTIPLIER + INCREMENT;
            word[i + 1] = xorshift(word[i + 1]);
        }
        bench_count(self); /* 2 */
    }
}

/* A linear map of 32 bits: column k is the image of bit k. */
struct bit_matrix {
    uint32_t column[32];
};

/* Returns the product of a matrix of bits and the bits of a word. */
static uint32_t apply(const struct bit_matrix *matrix, uint32_t x)
{
    uint32_t image = 0;

    for (unsigned k = 0; x != 0; k++, x >>= 1) {
        if ((x & 1u) != 0) {
            image ^= matrix->column[k];
        }
    }
    return image;
}

/* Stores in `result` the map that applies `first` and then `second`. */
static void compose(struct bit_matrix *result, const struct bit_matrix *second, const struct bit_matrix *first)
{
    struct bit_matrix product;

    for (unsigned k = 0; k < 32; k++) {
        product.column[k] = apply(second, first->column[k]);
    }
    *result = product;
}

/* Returns how many words of a core differ from their expected values after so many passes. */
static uint32_t wrong_words(unsigned core, uint32_t passes)
{
    static struct bit_matrix power, step;
    uint32_t multiplier = 1, increment = 0, step_multiplier = MULTIPLIER, step_increment = INCREMENT;
    uint32_t wrong = 0;

    for (unsigned k = 0; k < 32; k++) {
        power.column[k] = 1u << k;
        step.column[k] = xorshift(1u << k);
    }
    for (uint32_t left = passes; left != 0; left >>= 1) {
        if ((left & 1u) != 0) {
            compose(&power, &step, &power);
            increment = increment * step_multiplier + step_increment;
            multiplier *= step_multiplier;
        }
        compose(&step, &step, &step);
        step_increment = step_increment * step_multiplier + step_increment;
        step_multiplier *= step_multiplier;
    }
    for (unsigned i = 0; i < WORDS; i += 2) {
        wrong += words[core][i] != seed(core, i) * multiplier + increment;
        wrong += words[core][i + 1] != apply(&power, seed(core, i + 1));
    }
    return wrong;
}

/* Sends the benchmark's check records, after the bodies of all its tasks have returned. */
static void report(unsigned core)
{
    uint32_t checksum = 0;

    for (unsigned i = 0; i < WORDS; i++) {
        checksum = checksum * 31u + words[core][i];
    }
    bench_check("wrong_words", core, wrong_words(core, bench_task(core, 0)->count));
    bench_check("checksum", core, checksum);
}

const struct bench_program bench_program = {
    .priority = {1},
    .prepare = prepare,
    .body = body,
    .report = report,
};
