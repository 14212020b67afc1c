/* A stream buffer, which the port contract does not know. */
#include "bench_footprint.h"

#include "stream_buffer.h"

#define BUFFER_BYTES 64u

static StreamBufferHandle_t buffer;

/* Creates the stream buffer. Returns false if there is no memory. */
bool footprint_prepare(void)
{
    buffer = xStreamBufferCreate(BUFFER_BYTES, 1);
    return buffer != NULL;
}

/* Sends a word through the stream buffer. */
void footprint_use(void)
{
    uint32_t word = 0;

    (void)xStreamBufferSend(buffer, &word, sizeof word, portMAX_DELAY);
    (void)xStreamBufferReceive(buffer, &word, sizeof word, portMAX_DELAY);
}
