/* The shortest program of all: a greeting into the FIFO, and main returns while it is still being sent. */
#include "kit.h"

int main(void) {
    clocks_as_the_sdk_sets_them();
    uart_as_the_sdk_sets_it();
    put_text("Hello, UART!\n");
#ifdef FOREVER
    for (;;) {
    }
#endif
    return 0;
}
