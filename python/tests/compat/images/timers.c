/* Time as the SDKs keep it: alarms of TIMER with WFE sleeps, the race of an alarm in the past, forced alarms, repeating
 * alarms, SysTick from both clocks, and the timer's 64-bit read. */
#include "kit.h"

static volatile uint32_t fired[4], ticks, pended;

static void alarm_done(uint32_t n) {
    CLR(TIMER + 0x3c) = 1u << n;
    REG(TIMER + 0x34) = 1u << n;
    fired[n]++;
    sev();
}

void irq_timer0(void) {
    alarm_done(0);
}

void irq_timer1(void) {
    alarm_done(1);
    REG(TIMER + 0x14) += 250;
}

void irq_timer3(void) {
    alarm_done(3);
}

void systick(void) {
    ticks++;
}

void irq_26(void) {
    pended++;
}

static uint64_t time_64(void) {
    uint32_t high = REG(TIMER + 0x24);
    for (;;) {
        uint32_t low = REG(TIMER + 0x28);
        uint32_t again = REG(TIMER + 0x24);
        if (high == again) {
            return (uint64_t)high << 32 | low;
        }
        high = again;
    }
}

/* As hardware_alarm_set_target does: arm, and if the target has passed meanwhile, disarm and force. */
static void sleep_until(uint32_t n, uint32_t target) {
    uint32_t before = fired[n];
    REG(TIMER + 0x10 + 4 * n) = target;
    if ((int32_t)(target - time_us()) <= 0 && REG(TIMER + 0x20) & 1u << n) {
        REG(TIMER + 0x20) = 1u << n;
        SET(TIMER + 0x3c) = 1u << n;
    }
    while (fired[n] == before) {
        wfe();
    }
}

static uint32_t ticks_in(uint32_t us, uint32_t csr, uint32_t reload) {
    REG(SYST_RVR) = reload;
    REG(SYST_CVR) = 0;
    ticks = 0;
    REG(SYST_CSR) = csr;
    wait_us(us);
    REG(SYST_CSR) = 0;
    return ticks;
}

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    SET(TIMER + 0x38) = 0xf;
    REG(NVIC_ICPR) = 0xf;
    REG(NVIC_ISER) = 0xf | 1u << 26;
    uint32_t start = time_us();
    sleep_until(3, start + 1500);
    put_field("slept", (time_us() - start) / 100);
    sleep_until(0, time_us() - 5);
    put_field("past", fired[0]);
    REG(TIMER + 0x14) = time_us() + 250;
    wait_us(2600);
    REG(TIMER + 0x20) = 1u << 1;
    put_field("repeated", fired[1]);
    put_field("armed", REG(TIMER + 0x20));
    REG(NVIC_ISPR) = 1u << 26;
    __asm__ volatile("dsb\nisb");
    put_field("pended", pended);
    put_field("core", ticks_in(1050, 7, 12500 - 1));
    put_field("reference", ticks_in(1050, 3, 100 - 1));
    REG(SYST_RVR) = 0xffffff;
    REG(SYST_CVR) = 0;
    REG(SYST_CSR) = 5;
    uint32_t from = REG(SYST_CVR);
    wait_us(100);
    put_field("counted", (from - REG(SYST_CVR)) / 1000);
    REG(TIMER + 0x04) = 0xffffff00u;
    REG(TIMER + 0x00) = 7;
    uint32_t low = REG(TIMER + 0x0c);
    put_field("latched", REG(TIMER + 0x08) == 7 && low >= 0xffffff00u);
    while (time_64() >> 32 == 7) {
    }
    put_field("carried", (uint32_t)(time_64() >> 32));
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
