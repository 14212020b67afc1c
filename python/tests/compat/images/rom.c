/* The boot ROM as programs use it: tables found through half-word pointers, functions by their two letters, the
 * floating-point tables copied and called by index. Prints results as bits. */
#include "kit.h"

typedef uint32_t (*lookup_fn)(uint16_t *table, uint32_t code);
typedef uint32_t (*call_fn)();

static uint32_t half(uint32_t address) {
    return *(volatile uint16_t *)address;
}

static uint32_t find(char a, char b, uint32_t table_pointer) {
    lookup_fn lookup = (lookup_fn)half(0x18);
    return lookup((uint16_t *)half(table_pointer), (uint32_t)(uint8_t)b << 8 | (uint8_t)a);
}

static uint32_t call(char a, char b, uint32_t x) {
    return ((call_fn)find(a, b, 0x14))(x);
}

static uint32_t singles[32], doubles[32];

static void show_float(const char *name, uint32_t index, uint32_t x, uint32_t y) {
    put_text(name);
    put_char('=');
    put_hex(((uint32_t(*)(uint32_t, uint32_t))singles[index])(x, y));
    put_text("\n");
}

static void show_double(const char *name, uint32_t index, uint64_t x, uint64_t y) {
    uint64_t z = ((uint64_t(*)(uint64_t, uint64_t))doubles[index])(x, y);
    put_text(name);
    put_char('=');
    put_hex((uint32_t)(z >> 32));
    put_hex((uint32_t)z);
    put_text("\n");
}

static uint32_t less(uint32_t x, uint32_t y) {
    register uint32_t r0 __asm__("r0") = x;
    register uint32_t r1 __asm__("r1") = y;
    register uint32_t f __asm__("r3") = singles[5];
    uint32_t result;
    __asm__ volatile(".syntax unified\n blx %3\n sbcs %1, %1\n mov %0, %1"
                     : "=r"(result), "+r"(r0), "+r"(r1), "+r"(f)
                     :
                     : "r2", "ip", "lr", "cc", "memory");
    return result != 0;
}

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    const char *magic = (const char *)0x10;
    __asm__("" : "+r"(magic));
    put_field("magic", magic[0] == 'M' && magic[1] == 'u' && magic[2] == 1);
    put_field("version", (uint8_t)magic[3]);
    put_field("popcount", call('P', '3', 0xf0f0f0f1));
    put_field("clz", call('L', '3', 0x00010000));
    put_field("ctz", call('T', '3', 0x00010000));
    put_field("reverse", call('R', '3', 6) >> 29);
    put_field("missing", find('Z', 'Z', 0x14));
    static char text[40];
    ((call_fn)find('M', 'S', 0x14))(text, 'x', 11);
    ((call_fn)find('M', 'C', 0x14))(text + 11, "copied", 7);
    put_text("memory=");
    put_text(text);
    put_text("\n");
    uint32_t single = find('S', 'F', 0x16), wide = find('S', 'D', 0x16);
    put_field("entries", *(uint8_t *)(single - 2) + 100u * *(uint8_t *)(wide - 2));
    ((call_fn)find('C', '4', 0x14))(singles, single, sizeof singles);
    ((call_fn)find('C', '4', 0x14))(doubles, wide, sizeof doubles);
    show_float("fadd", 0, 0x3fc00000, 0x40200000);
    show_float("fdiv", 3, 0x3f800000, 0x40400000);
    show_float("fsqrt", 6, 0x40000000, 0);
    show_float("f2i", 7, 0xc0200000, 0);
    show_float("i2f", 11, (uint32_t)-7, 0);
    show_float("fix2f", 12, 3, 1);
    show_float("fexp", 19, 0x3f800000, 0);
    show_float("atan2f", 22, 0x3f800000, 0x3f800000);
    show_double("dadd", 0, 0x3ff8000000000000, 0x4004000000000000);
    show_double("dmul", 2, 0x3fb999999999999a, 0x4024000000000000);
    show_double("dln", 20, 0x4005bf0a8b145769, 0);
    put_field("less", less(0x3f800000, 0x40000000) * 100 + less(0x40000000, 0x3f800000) * 10 + less(0, 0x80000000));
    put_text("end\n");
    for (;;) {
        wfi();
    }
}
