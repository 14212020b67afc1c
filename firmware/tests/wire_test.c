/* The record encoder against spec/wire.md: known check sums, escapes, edges of the line length, sequence numbers. */
#include "bench_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char sent[4 * WIRE_LINE_MAX_CHARS];
static size_t sent_length;

/* Appends a line to the bytes that count as sent. Ends the test if they are too many. */
static void send(const char *line, size_t length)
{
    if (sent_length + length >= sizeof sent) {
        fprintf(stderr, "the test's own buffer is full\n");
        exit(1);
    }
    memcpy(sent + sent_length, line, length);
    sent_length += length;
    sent[sent_length] = '\0';
}

/* Ends the test with a message if a condition does not hold. */
static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s\nsent: %s\n", what, sent);
        exit(1);
    }
}

/* Empties an encoder and the bytes sent. */
static void fresh(struct wire *wire)
{
    memset(wire, 0, sizeof *wire);
    sent_length = 0;
    sent[0] = '\0';
}

/* Checks the check sum of a known text, whole and in two pieces. */
static void test_crc(void)
{
    /* The check value every CRC-32/ISO-HDLC implementation must give, whole and in pieces. */
    expect(wire_crc32(0, "123456789", 9) == 0xCBF43926u, "check value");
    expect(wire_crc32(wire_crc32(0, "1234", 4), "56789", 5) == 0xCBF43926u, "check value in two pieces");
    expect(wire_crc32(0, "", 0) == 0, "nothing");
}

/* Checks the bytes of a line, its check sum, and the sequence numbers. */
static void test_line(void)
{
    struct wire wire;

    fresh(&wire);
    wire_begin(&wire, "check");
    wire_text(&wire, "name", "spread");
    wire_number(&wire, "core", 1);
    wire_number(&wire, "value", UINT64_MAX);
    wire_hex(&wire, "at", 0x1000beefu);
    expect(wire_end(&wire, send), "a short line is sent");
    expect(strncmp(sent, "@0 check name=spread core=1 value=18446744073709551615 at=0x1000beef *", 70) == 0, "content");
    expect(sent_length == 79 && sent[78] == '\n', "length and line end");
    expect(strtoul(sent + 70, NULL, 16) == wire_crc32(0, sent, 68), "check sum covers @ up to the blank before *");
    expect(wire.sequence == 1, "sequence advances");
    wire_begin(&wire, "end");
    expect(wire_end(&wire, send) && strncmp(sent + 79, "@1 end *", 8) == 0, "second line");
}

/* Checks that characters which the format does not allow are escaped. */
static void test_escapes(void)
{
    struct wire wire;

    fresh(&wire);
    wire_begin(&wire, "error");
    wire_text(&wire, "detail", "a b=c*d%\n\xff-._/Z9");
    expect(wire_end(&wire, send), "sent");
    expect(strstr(sent, " detail=a%20b%3Dc%2Ad%25%0A%FF-._/Z9 *") != NULL, "escapes");
}

/* Checks that the numbers of a list are separated by commas. */
static void test_list(void)
{
    struct wire wire;

    fresh(&wire);
    wire_begin(&wire, "sample");
    wire_key(&wire, "values");
    wire_list_number(&wire, true, 0);
    wire_list_number(&wire, false, 41);
    wire_list_number(&wire, false, 7);
    expect(wire_end(&wire, send) && strstr(sent, " values=0,41,7 *") != NULL, "list");
}

/* Checks that a number which repeats is sent once, with how often it occurs. */
static void test_runs(void)
{
    struct wire wire;

    fresh(&wire);
    wire_begin(&wire, "sample");
    wire_key(&wire, "values");
    wire_list_run(&wire, true, 812, 1);
    wire_list_run(&wire, false, 13, 62);
    wire_list_run(&wire, false, 140, 2);
    expect(wire_end(&wire, send) && strstr(sent, " values=812,13x62,140x2 *") != NULL, "runs");
}

/* Checks that the room which the encoder announces is the room there is: so much fits, and one more does not. */
static void test_room(void)
{
    for (int more = 0; more < 2; more++) {
        struct wire wire;
        size_t room;

        fresh(&wire);
        wire_begin(&wire, "x");
        wire_key(&wire, "k");
        room = wire_room(&wire);
        for (size_t i = 0; i < room + (size_t)more; i++) {
            wire_list_number(&wire, true, 7);
        }
        expect(wire_room(&wire) == 0, "no room is left");
        expect(wire_end(&wire, send) == (more == 0), "what was announced fits, and no more");
    }
}

/* Checks, for each text length around the limit, that a line is sent whole within the limit, or not at all. */
static void test_limit(void)
{
    char text[WIRE_LINE_MAX_CHARS + 8];

    for (size_t length = 0; length < sizeof text; length++) {
        struct wire wire;
        size_t whole = strlen("@0 x k=") + length + strlen(" *00000000");

        fresh(&wire);
        memset(text, 'a', length);
        text[length] = '\0';
        wire_begin(&wire, "x");
        wire_text(&wire, "k", text);
        if (wire_end(&wire, send)) {
            expect(sent_length == whole + 1 && whole <= WIRE_LINE_MAX_CHARS, "a sent line is whole and within the limit");
        } else {
            expect(sent_length == 0 && wire.sequence == 0, "a refused line leaves no trace");
            expect(whole >= WIRE_LINE_MAX_CHARS, "a line that fits is not refused");
        }
        wire_begin(&wire, "x");
        expect(wire_end(&wire, send), "the next line is unharmed");
    }
}

/* Runs the tests of the wire format's encoder, on the host. The first failure ends the program with status 1. */
int main(void)
{
    test_crc();
    test_line();
    test_escapes();
    test_list();
    test_runs();
    test_room();
    test_limit();
    puts("ok");
    return 0;
}
