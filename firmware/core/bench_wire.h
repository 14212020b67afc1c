/* Record encoder for spec/wire.md. Knows the format, not the port: `send` puts a finished line on the wire. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_wire_facts.h"

struct wire {
    uint32_t sequence; /* of the line being built; advances when the line is complete */
    uint16_t length;
    bool overlong;
    char line[WIRE_LINE_MAX_CHARS];
};

/* Returns the CRC-32 of IEEE 802.3 (as in zlib) of some bytes. `crc` is 0, or the result for the bytes before. */
uint32_t wire_crc32(uint32_t crc, const void *bytes, size_t count);

void wire_begin(struct wire *wire, const char *record);
void wire_number(struct wire *wire, const char *key, uint64_t value);
void wire_hex(struct wire *wire, const char *key, uint32_t value);
void wire_text(struct wire *wire, const char *key, const char *value); /* escapes what the format does not allow */

/* For lists: the key once, then each number, comma-separated. */
void wire_key(struct wire *wire, const char *key);
void wire_list_number(struct wire *wire, bool first, uint64_t value);
/* Appends a number that occurs `repeats` times in a row, 1 or more. */
void wire_list_run(struct wire *wire, bool first, uint64_t value, uint32_t repeats);

/* Returns the number of characters that still fit into the line. */
size_t wire_room(const struct wire *wire);

/* Appends the CRC and the line end and sends the line. False, and nothing is sent, if the line would be too long. */
bool wire_end(struct wire *wire, void (*send)(const char *line, size_t length));
