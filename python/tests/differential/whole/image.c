/* One image for the virtual board and for QEMU's machine with the same chip family: no clock set-up (QEMU has no RCC),
 * no peripheral but a USART without waiting for its pins, nothing that depends on how long anything takes. Every line
 * printed is a name and a checksum; the image ends with a system reset. USART and RCC_APB2ENR come from the build. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define USART_SR REGISTER(USART)
#define USART_DR REGISTER(USART + 4u)
#define USART_BRR REGISTER(USART + 8u)
#define USART_CR1 REGISTER(USART + 12u)
#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
#define ICSR REGISTER(0xe000ed04u)
#define AIRCR REGISTER(0xe000ed0cu)
#define CCR REGISTER(0xe000ed14u)
#define SHPR(n) REGISTER(0xe000ed14u + 4u * (n))
#define SHCSR REGISTER(0xe000ed24u)
#define CFSR REGISTER(0xe000ed28u)
#define HFSR REGISTER(0xe000ed2cu)
#define CPACR REGISTER(0xe000ed88u)
#define ISER REGISTER(0xe000e100u)
#define ISPR REGISTER(0xe000e200u)
#define IPR(n) REGISTER(0xe000e400u + 4u * (n))
#define STIR REGISTER(0xe000ef00u)
#define PENDSV_SET (1u << 28)
#define ROUNDS 3000
#define TICKS 7
#define BARRIER() __asm__ volatile("dsb\n\tisb" ::: "memory")

extern uint32_t stack_top[];
void reset(void);
static volatile uint32_t sum, ticks;

static void put(char byte)
{
    while (!(USART_SR & 1u << 7)) {
    }
    USART_DR = (uint8_t)byte;
}

static void line(const char *name, uint32_t value)
{
    while (*name)
        put(*name++);
    put('=');
    for (int shift = 28; shift >= 0; shift -= 4)
        put("0123456789abcdef"[value >> shift & 15u]);
    put('\n');
}

static uint32_t mix(uint32_t a, uint32_t b) { return (a << 5 | a >> 27) * 0x9e3779b1u ^ b; }
static void note(uint32_t value) { sum = mix(sum, value); }

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static uint32_t integers(void)
{
    uint32_t state = 1, s = 0;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = next(&state), b = next(&state) >> (i & 31), flags, low, high, x;
        s = mix(s, b ? a / b : a);
        s = mix(s, b ? (uint32_t)((int32_t)a / (int32_t)b) : a);
        __asm__("umull %0, %1, %2, %3" : "=&r"(low), "=&r"(high) : "r"(a), "r"(b));
        __asm__("smlal %0, %1, %2, %3" : "+r"(low), "+r"(high) : "r"(b), "r"(a));
        s = mix(mix(s, low), high);
        __asm__("adds %0, %2, %3\n\tmrs %1, apsr" : "=&r"(x), "=r"(flags) : "r"(a), "r"(b) : "cc");
        s = mix(mix(s, x), flags & 0xf0000000u);
        __asm__("sbcs %0, %2, %3, ror #7\n\tmrs %1, apsr" : "=&r"(x), "=r"(flags) : "r"(a), "r"(b) : "cc");
        s = mix(s, x);
        __asm__("clz %0, %1\n\trbit %1, %1" : "=&r"(x), "+r"(b));
        s = mix(mix(s, x), b);
        __asm__("ssat %0, #13, %1, asr #3\n\tusat %1, #9, %1" : "=&r"(x), "+r"(a));
        s = mix(mix(s, x), a);
        __asm__("bfi %0, %1, #5, #11\n\tsbfx %1, %0, #3, #19" : "+r"(x), "+r"(b));
        s = mix(mix(s, x), b);
        __asm__("cmp %1, %2\n\tittee hi\n\taddhi %0, %1\n\teorhi %0, %2\n\tsubls %0, %2\n\tmvnls %0, %0"
                : "+r"(x) : "r"(a), "r"(b) : "cc");
        s = mix(s, x);
    }
    return s;
}

static uint32_t memory(void)
{
    static uint8_t area[256] __attribute__((aligned(8)));
    uint32_t state = 2, s = 0;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t at = next(&state) % 240, a = next(&state), b;
        __asm__ volatile("str %1, [%0]\n\tldrsh %1, [%0, #3]\n\tstrb %1, [%0, #9]\n\tldrh %1, [%0, #1]"
                         : : "r"(area + at), "r"(a) : "memory");
        __asm__ volatile("ldrd %0, %1, [%2]\n\tstmia %2, {%0, %1}" : "=&r"(a), "=&r"(b)
                         : "r"(area + (at & ~7u)) : "memory");
        s = mix(mix(s, a), b);
        __asm__ volatile("ldrex %0, [%2]\n\tadd %0, #1\n\tstrex %1, %0, [%2]" : "=&r"(a), "=&r"(b)
                         : "r"(area + (at & ~3u)) : "memory");
        s = mix(mix(s, a), b);
        REGISTER(0x22000000u + ((uint32_t)area - 0x20000000u + at) * 32u) = (uint32_t)i; /* bit-band */
        s = mix(s, REGISTER(0x22000000u + ((uint32_t)area - 0x20000000u + at) * 32u + 4u));
    }
    for (unsigned i = 0; i < sizeof area; i++)
        s = mix(s, area[i]);
    return s;
}

/* Exceptions: who runs, in which order, with which frame, is noted by the handlers. */
__attribute__((used)) static void called(uint32_t *frame, uint32_t exc_return)
{
    note(0x5cu + (exc_return & 0x1fu));
    note(((uint8_t *)frame[6])[-2]); /* the SVC's number, before the return address */
    note(frame[7] & 0xff000000u);
    frame[0] = frame[0] * 3u + frame[1];
    if (frame[2] & 1u)
        ICSR = PENDSV_SET; /* tail-chained */
}

__attribute__((naked)) static void svc(void)
{
    __asm__("tst lr, #4\n\tite eq\n\tmrseq r0, msp\n\tmrsne r0, psp\n\tmov r1, lr\n\tb called");
}

static void pendsv(void)
{
    uint32_t ipsr;
    __asm__ volatile("mrs %0, ipsr" : "=r"(ipsr));
    note(ipsr);
}

static void tick(void) { ticks++; }

static void irq0(void) { note(0x100); }
static void irq1(void)
{
    note(0x101);
    STIR = 0; /* more urgent: preempts */
    BARRIER();
    STIR = 2; /* less urgent: waits */
    BARRIER();
    note(0x201);
}
static void irq2(void) { note(0x102); }

/* A fault: noted, cleared, its instruction skipped. */
__attribute__((used)) static void faulted(uint32_t *frame)
{
    uint32_t ipsr;
    __asm__ volatile("mrs %0, ipsr" : "=r"(ipsr));
    note(ipsr);
    note(CFSR);
    note(HFSR);
    CFSR = CFSR;
    HFSR = HFSR;
    frame[6] += *(uint16_t *)frame[6] >= 0xe800u ? 4 : 2;
}

__attribute__((naked)) static void fault(void) { __asm__("tst lr, #4\n\tite eq\n\tmrseq r0, msp\n\tmrsne r0, psp\n\tb faulted"); }

static uint32_t call(uint32_t a, uint32_t b, uint32_t pend)
{
    register uint32_t r0 __asm__("r0") = a;
    register uint32_t r1 __asm__("r1") = b;
    register uint32_t r2 __asm__("r2") = pend;
    __asm__ volatile("svc 42" : "+r"(r0) : "r"(r1), "r"(r2) : "memory");
    return r0;
}

static uint32_t exceptions(void)
{
    static uint64_t handler_stack[64];
    uint32_t state = 3;

    sum = 0;
    SHPR(2) = 0x20u << 24;  /* SVC */
    SHPR(3) = 0xf0u << 16;  /* PendSV last, SysTick first */
    IPR(0) = 0x00c08040u;
    ISER = 7;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = next(&state);
        if (i == ROUNDS / 2) /* the thread keeps its stack, handlers go to another */
            __asm__ volatile("mov r0, sp\n\tmsr psp, r0\n\tmov r0, #2\n\tmsr control, r0\n\tisb\n\tmsr msp, %0"
                             : : "r"(handler_stack + 64) : "r0", "memory");
        note(call(a, (uint32_t)i, a >> 3));
        STIR = a & 1u;
        BARRIER();
        __asm__ volatile("msr basepri, %0" : : "r"(0x80u));
        ISPR = 7; /* 0 runs now, 1 and 2 behind the mask */
        BARRIER();
        note(0x300);
        __asm__ volatile("msr basepri, %0" : : "r"(0u));
        BARRIER();
        __asm__ volatile("cpsid i" ::: "memory");
        ICSR = PENDSV_SET;
        note(ICSR & (PENDSV_SET | 0x1ffu << 12));
        __asm__ volatile("cpsie i\n\tisb" ::: "memory");
    }
    return sum;
}

static uint32_t faults(void)
{
    uint32_t odd = 0x20000001u;

    sum = 0;
    for (int enabled = 0; enabled < 2; enabled++) {
        SHCSR = enabled ? 7u << 16 : 0;
        CCR |= 1u << 4; /* division by zero traps */
        __asm__ volatile("udf #7" ::: "memory");
        __asm__ volatile("mov r0, %0\n\tmov r1, %0\n\tmov r2, #0\n\tldmia r0!, {r1, r2}" : : "r"(odd) : "r0", "r1", "r2", "memory");
        __asm__ volatile("sdiv %0, %0, %1" : "+r"(odd) : "r"(0));
        odd = 0x20000001u;
        note(CCR & 1u << 4);
    }
    return sum;
}

static uint32_t ticking(void)
{
    SYST_RVR = 999;
    SYST_CVR = 0;
    SYST_CSR = 7;
    while (ticks < TICKS) {
    }
    SYST_CSR = 0;
    return ticks >= TICKS;
}

#ifdef __ARM_FP
static uint32_t floats(void)
{
    uint32_t state = 4, s = 0, status;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = next(&state), b = next(&state), c, d;
        if (i & 1) /* near each other, so that sums cancel and products stay in range */
            b = (a & 0x7f800000u) ^ (b & 0x80ffffffu);
        __asm__ volatile("vmsr fpscr, %0" : : "r"((uint32_t)i << 22)); /* every rounding mode, FZ, DN */
        __asm__ volatile("vmov s0, %1\n\tvmov s1, %2\n\tvadd.f32 s2, s0, s1\n\tvmul.f32 s3, s0, s1\n\tvdiv.f32 s4, s0, s1\n\t"
                         "vfma.f32 s2, s0, s1\n\tvsqrt.f32 s5, s0\n\tvcvt.s32.f32 s6, s1\n\tvcvtr.u32.f32 s7, s0\n\t"
                         "vmls.f32 s3, s4, s5\n\tvcmp.f32 s2, s3\n\tvmov %0, s2"
                         : "=r"(c) : "r"(a), "r"(b) : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
        s = mix(s, c);
        note(call(a, b, 0)); /* with a floating-point frame */
        __asm__ volatile("vmov %0, %1, s3, s4" : "=r"(c), "=r"(d));
        s = mix(mix(s, c), d);
        __asm__ volatile("vmov %0, %1, s5, s6\n\tvmrs %2, fpscr" : "=r"(c), "=r"(d), "=r"(status));
        s = mix(mix(mix(s, c), d), status);
    }
    return s;
}
#endif

__attribute__((section(".vectors"), used)) static void (*const vectors[19])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, svc, 0, 0, pendsv, tick,
    irq0, irq1, irq2,
};

void reset(void)
{
    REGISTER(RCC_APB2ENR) |= USART_CLOCK;
#ifdef __ARM_FP
    CPACR |= 0xfu << 20;
    BARRIER();
#endif
    USART_BRR = 16; /* the fastest */
    USART_CR1 = 1u << 13 | 1u << 3;
    line("integers", integers());
    line("memory", memory());
    line("ticks", ticking());
    line("faults", faults());
    line("exceptions", exceptions());
#ifdef __ARM_FP
    line("floats", floats());
    line("frames", sum);
#endif
    while (!(USART_SR & 1u << 6)) {
    }
    AIRCR = 0x05fa0004u;
    for (;;) {
    }
}
