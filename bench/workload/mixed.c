/* The simulator's speed workload: what control firmware spends its time on, in fixed shares.
 *
 * CRC over a table, integer matrix product, linked-list walk, recursion, indirect calls, and on cores with an FPU a
 * polynomial in single precision. `reset` starts the chip's clocks, flash interface and caches with the firmware's own
 * code (WORKLOAD_CLOCKS; the Pico's boot block does it there); `workload_start` behind it touches nothing but the
 * core's own registers (and, with two cores, the inter-core FIFO), so that any emulator can start there. SysTick
 * interrupts. Ends in `workload_done`; the checksum in `workload_result` must be the same everywhere.
 */
#include <stdint.h>

#ifndef WORKLOAD_ROUNDS
#define WORKLOAD_ROUNDS 1000
#endif

#ifdef WORKLOAD_CLOCKS
#include "bench_family.h" /* REGISTER among the rest */
#else
#define REGISTER(address) (*(volatile uint32_t *)(address))
#endif
#ifdef TWO_CORES
#define CORES 2
#else
#define CORES 1
#endif
#define SIO_CPUID REGISTER(0xd0000000u)
#define FIFO_ST REGISTER(0xd0000050u)
#define FIFO_WR REGISTER(0xd0000054u)
#define FIFO_RD REGISTER(0xd0000058u)

#define MATRIX_SIZE 12
#define LIST_LENGTH 96
#define CRC_BYTES 512

struct node {
    struct node *next;
    uint32_t value;
};

struct work {
    int32_t a[MATRIX_SIZE][MATRIX_SIZE], b[MATRIX_SIZE][MATRIX_SIZE], product[MATRIX_SIZE][MATRIX_SIZE];
    struct node nodes[LIST_LENGTH];
    uint8_t bytes[CRC_BYTES];
    uint32_t crc_table[256];
};

static struct work work[CORES];
volatile uint32_t workload_result[CORES];
volatile uint32_t workload_ticks;
volatile uint32_t workload_core1_started;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void prepare(struct work *w, uint32_t seed)
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t c = n;
        for (int bit = 0; bit < 8; bit++)
            c = (c & 1u) ? 0xedb88320u ^ (c >> 1) : c >> 1;
        w->crc_table[n] = c;
    }
    for (int i = 0; i < MATRIX_SIZE; i++)
        for (int j = 0; j < MATRIX_SIZE; j++) {
            w->a[i][j] = (int32_t)(next_random(&seed) & 0xff);
            w->b[i][j] = (int32_t)(next_random(&seed) & 0xff);
        }
    for (int i = 0; i < CRC_BYTES; i++)
        w->bytes[i] = (uint8_t)next_random(&seed);
    /* A permutation with one cycle: 41 and the length have no common factor. */
    for (int i = 0; i < LIST_LENGTH; i++) {
        w->nodes[i].value = next_random(&seed);
        w->nodes[i].next = &w->nodes[(i + 41) % LIST_LENGTH];
    }
}

static uint32_t crc(const struct work *w)
{
    uint32_t c = 0xffffffffu;
    for (int i = 0; i < CRC_BYTES; i++)
        c = w->crc_table[(c ^ w->bytes[i]) & 0xffu] ^ (c >> 8);
    return ~c;
}

static uint32_t matrix(struct work *w)
{
    uint32_t trace = 0;
    for (int i = 0; i < MATRIX_SIZE; i++)
        for (int j = 0; j < MATRIX_SIZE; j++) {
            int32_t sum = 0;
            for (int k = 0; k < MATRIX_SIZE; k++)
                sum += w->a[i][k] * w->b[k][j];
            w->product[i][j] = sum;
            trace += (uint32_t)sum ^ (uint32_t)(i * j);
        }
    return trace;
}

static uint32_t walk(const struct work *w)
{
    uint32_t sum = 0;
    const struct node *node = w->nodes;
    for (int i = 0; i < 8 * LIST_LENGTH; i++) {
        sum = (sum << 1 | sum >> 31) ^ node->value;
        node = node->next;
    }
    return sum;
}

static __attribute__((noinline)) uint32_t recurse(uint32_t n)
{
    return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

static __attribute__((noinline)) uint32_t step_add(uint32_t x) { return x + 0x9e3779b9u; }
static __attribute__((noinline)) uint32_t step_xor(uint32_t x) { return x ^ (x >> 15); }
static __attribute__((noinline)) uint32_t step_multiply(uint32_t x) { return x * 0x85ebca6bu; }
static __attribute__((noinline)) uint32_t step_rotate(uint32_t x) { return x << 13 | x >> 19; }

static uint32_t (*const steps[4])(uint32_t) = {step_add, step_xor, step_multiply, step_rotate};

static uint32_t indirect(uint32_t x)
{
    for (uint32_t i = 0; i < 1024; i++)
        x = steps[(i ^ x) & 3u](x);
    return x;
}

#ifdef __ARM_FP
#define FLOAT_ROUNDS 64

/* Horner's scheme with a division and a comparison to each step: the sum stays between 0 and 8. */
static uint32_t polynomial(uint32_t x)
{
    static const float factor[8] = {0.5f, 0.25f, 0.125f, 1.5f, 0.75f, 0.375f, 1.25f, 0.625f};
    union {
        float value;
        uint32_t bits;
    } sum = {(float)(x & 0xffu) * 0.00390625f};

    for (uint32_t i = 0; i < FLOAT_ROUNDS; i++) {
        float y = sum.value;
        for (uint32_t k = 0; k < 8; k++)
            y = y * 0.3125f + factor[(i + k) & 7u];
        sum.value = y > 1.0f ? 1.0f / y + (float)(int32_t)(y * 3.0f) * 0.5f : y;
    }
    return sum.bits;
}
#endif

static void run(uint32_t core)
{
    struct work *w = &work[core];
    uint32_t sum = core;
    prepare(w, 12345u + core);
    for (uint32_t round = 0; round < WORKLOAD_ROUNDS; round++) {
        w->bytes[round % CRC_BYTES] ^= (uint8_t)sum;
        sum = sum * 31u + crc(w);
        sum = sum * 31u + matrix(w);
        sum = sum * 31u + walk(w);
        sum = sum * 31u + recurse(11);
        sum = sum * 31u + indirect(round);
#ifdef __ARM_FP
        sum = sum * 31u + polynomial(sum);
#endif
    }
    workload_result[core] = sum;
}

#ifdef WORKLOAD_SEMIHOSTING
static uint32_t host(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

/* The checksum as its bytes lie in memory, in hex, then the end of the emulator. */
static void tell_host(void)
{
    static char text[9];

    for (uint32_t i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[workload_result[0] >> (i / 2 * 8 + (i & 1u ? 0 : 4)) & 15u];
    host(0x04u, text);                   /* SYS_WRITE0 */
    host(0x18u, (const void *)0x20026u); /* SYS_EXIT, application exit */
}
#endif

__attribute__((noinline)) void workload_done(void)
{
#ifdef WORKLOAD_SEMIHOSTING
    tell_host();
#endif
    for (;;)
        __asm__ volatile("" ::: "memory");
}

void systick(void) { workload_ticks++; }

#ifdef TWO_CORES
static uint32_t core1_stack[256];

static void core1_main(void)
{
    workload_core1_started = 1;
    run(1);
    for (;;)
        __asm__ volatile("" ::: "memory");
}

static void launch_core1(uint32_t vectors)
{
    const uint32_t words[6] = {0, 0, 1, vectors, (uint32_t)(core1_stack + 256), (uint32_t)core1_main};
    for (uint32_t i = 0; i < 6;) {
        if (words[i] == 0) {
            while (FIFO_ST & 1u)
                (void)FIFO_RD;
            __asm__ volatile("sev");
        }
        while (!(FIFO_ST & 2u)) {
        }
        FIFO_WR = words[i];
        __asm__ volatile("sev");
        while (!(FIFO_ST & 1u))
            __asm__ volatile("wfe");
        i = FIFO_RD == words[i] ? i + 1 : 0;
    }
}
#endif

extern uint32_t stack_top[];
void reset(void);
void workload_start(void);

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, workload_done, workload_done, workload_done, workload_done, workload_done, 0, 0,
    0, 0, workload_done, 0, 0, workload_done, systick,
};

void workload_start(void)
{
    REGISTER(0xe000ed08u) = (uint32_t)vectors;
#ifdef __ARM_FP
    REGISTER(0xe000ed88u) |= 0xfu << 20; /* CPACR */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    REGISTER(0xe000e014u) = WORKLOAD_CLOCK_HZ / 1000u - 1u;
    REGISTER(0xe000e018u) = 0;
    REGISTER(0xe000e010u) = 7;
#ifdef TWO_CORES
    launch_core1((uint32_t)vectors);
#endif
    run(0);
#ifdef TWO_CORES
    while (workload_result[1] == 0)
        __asm__ volatile("" ::: "memory");
#endif
    workload_done();
}

void reset(void)
{
#ifdef WORKLOAD_CLOCKS
    family_start_clocks();
    family_start_caches();
#endif
    workload_start();
}
