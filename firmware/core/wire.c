/* Record encoder. A line is built whole before any of it is sent: a line that cannot be completed never appears, and
 * the CRC is over exactly the bytes that go out. */
#include "bench_wire.h"

#include <string.h>

/* " *" + 8 hex digits + LF */
#define TRAILER_CHARS 11u

/* Returns the CRC-32 of IEEE 802.3 of some bytes. `crc` is 0, or the result for the bytes before. */
uint32_t wire_crc32(uint32_t crc, const void *bytes, size_t count)
{
    /* Half-byte steps: a 64-byte table instead of 1 kB, and still quicker than the serial line. */
    static const uint32_t step[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
    };
    _Static_assert(WIRE_CRC_POLYNOMIAL == 0xEDB88320, "the table above is for this polynomial");
    const uint8_t *byte = bytes;

    crc = ~crc;
    while (count-- > 0) {
        crc ^= *byte++;
        crc = (crc >> 4) ^ step[crc & 15u];
        crc = (crc >> 4) ^ step[crc & 15u];
    }
    return ~crc;
}

/* Appends a character to the line, or marks the line as too long. */
static void put(struct wire *wire, char character)
{
    if (wire->length + TRAILER_CHARS >= WIRE_LINE_MAX_CHARS) {
        wire->overlong = true;
        return;
    }
    wire->line[wire->length++] = character;
}

/* Appends a text to the line, character by character. */
static void put_text(struct wire *wire, const char *text)
{
    while (*text != '\0') {
        put(wire, *text++);
    }
}

/* Appends a number in decimal digits. */
static void put_number(struct wire *wire, uint64_t value)
{
    char digits[20];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + (char)(value % 10u));
        value /= 10u;
    } while (value != 0);
    while (count > 0) {
        put(wire, digits[--count]);
    }
}

/* Returns the digit of the lowest four bits. */
static char hex_digit(uint32_t value)
{
    return "0123456789abcdef"[value & 15u];
}

/* Returns whether a text value may contain this character without an escape. */
static bool is_plain(char character)
{
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '.' || character == '_' ||
           character == '/';
}

/* Begins the line of a record: its sequence number and its kind. */
void wire_begin(struct wire *wire, const char *record)
{
    wire->length = 0;
    wire->overlong = false;
    put(wire, '@');
    put_number(wire, wire->sequence);
    put(wire, ' ');
    put_text(wire, record);
}

/* Appends a key and `=`, before a value. */
void wire_key(struct wire *wire, const char *key)
{
    put(wire, ' ');
    put_text(wire, key);
    put(wire, '=');
}

/* Appends a key with a decimal number. */
void wire_number(struct wire *wire, const char *key, uint64_t value)
{
    wire_key(wire, key);
    put_number(wire, value);
}

/* Appends a key with a hexadecimal number of eight digits. */
void wire_hex(struct wire *wire, const char *key, uint32_t value)
{
    wire_key(wire, key);
    put_text(wire, "0x");
    for (int shift = 28; shift >= 0; shift -= 4) {
        put(wire, hex_digit(value >> shift));
    }
}

/* Appends a key with a text, in which characters that the format does not allow are escaped. */
void wire_text(struct wire *wire, const char *key, const char *value)
{
    static const char upper_hex[] = "0123456789ABCDEF";

    wire_key(wire, key);
    for (; *value != '\0'; value++) {
        if (is_plain(*value)) {
            put(wire, *value);
        } else {
            put(wire, '%');
            put(wire, upper_hex[(uint8_t)*value >> 4]);
            put(wire, upper_hex[(uint8_t)*value & 15u]);
        }
    }
}

/* Appends a number to a list, after a comma unless it is the first. */
void wire_list_number(struct wire *wire, bool first, uint64_t value)
{
    if (!first) {
        put(wire, ',');
    }
    put_number(wire, value);
}

/* Appends a number that occurs `repeats` times in a row to a list. */
void wire_list_run(struct wire *wire, bool first, uint64_t value, uint32_t repeats)
{
    wire_list_number(wire, first, value);
    if (repeats > 1) {
        put(wire, 'x');
        put_number(wire, repeats);
    }
}

/* Returns the number of characters that still fit into the line. */
size_t wire_room(const struct wire *wire)
{
    size_t used = wire->length + TRAILER_CHARS;

    return used < WIRE_LINE_MAX_CHARS ? WIRE_LINE_MAX_CHARS - used : 0;
}

/* Appends the CRC and the line end, and sends the line. Returns false if it is too long: then nothing is sent. */
bool wire_end(struct wire *wire, void (*send)(const char *line, size_t length))
{
    uint32_t crc;

    if (wire->overlong) {
        return false;
    }
    crc = wire_crc32(0, wire->line, wire->length);
    wire->line[wire->length++] = ' ';
    wire->line[wire->length++] = '*';
    for (int shift = 28; shift >= 0; shift -= 4) {
        wire->line[wire->length++] = hex_digit(crc >> shift);
    }
    wire->line[wire->length++] = '\n';
    send(wire->line, wire->length);
    wire->sequence++;
    return true;
}
