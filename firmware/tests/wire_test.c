/* The record encoder against spec/wire.md: known check sums, escapes, edges of the line length, sequence numbers. */
#include "bench_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char sent[4 * WIRE_LINE_MAX_CHARS];
static size_t sent_length;

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

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s\nsent: %s\n", what, sent);
        exit(1);
    }
}

static void fresh(struct wire *wire)
{
    memset(wire, 0, sizeof *wire);
    sent_length = 0;
    sent[0] = '\0';
}

static void test_crc(void)
{
    /* The check value every CRC-32/ISO-HDLC implementation must give, whole and in pieces. */
    expect(wire_crc32(0, "123456789", 9) == 0xCBF43926u, "check value");
    expect(wire_crc32(wire_crc32(0, "1234", 4), "56789", 5) == 0xCBF43926u, "check value in two pieces");
    expect(wire_crc32(0, "", 0) == 0, "nothing");
}

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

static void test_escapes(void)
{
    struct wire wire;

    fresh(&wire);
    wire_begin(&wire, "error");
    wire_text(&wire, "detail", "a b=c*d%\n\xff-._/Z9");
    expect(wire_end(&wire, send), "sent");
    expect(strstr(sent, " detail=a%20b%3Dc%2Ad%25%0A%FF-._/Z9 *") != NULL, "escapes");
}

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

/* The room announced is the room there is: so much fits, one more does not. */
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

/* For every payload length around the limit: sent whole within the limit, or not at all. */
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
