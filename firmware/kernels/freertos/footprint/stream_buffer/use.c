/* A stream buffer, which the port contract does not know. */
#include "bench_footprint.h"

#include "stream_buffer.h"

#define BUFFER_BYTES 64u

static StreamBufferHandle_t buffer;

bool footprint_prepare(void)
{
    buffer = xStreamBufferCreate(BUFFER_BYTES, 1);
    return buffer != NULL;
}

void footprint_use(void)
{
    uint32_t word = 0;

    (void)xStreamBufferSend(buffer, &word, sizeof word, portMAX_DELAY);
    (void)xStreamBufferReceive(buffer, &word, sizeof word, portMAX_DELAY);
}
