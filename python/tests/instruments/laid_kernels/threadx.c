#include "laid.h"

typedef struct TX_THREAD_STRUCT {
    word id, runs; void *tx_thread_stack_ptr, *tx_thread_stack_start, *end; word tx_thread_stack_size, slice;
    char *tx_thread_name; word tx_thread_priority; struct TX_THREAD_STRUCT *tx_thread_created_next;
} TX_THREAD;
word stack[40] = {[4] = 0xFFFFFFFD, LOW, HIGH, CORE_FRAME}, spoilt[40];
extern TX_THREAD alpha, beta, gamma;
TX_THREAD alpha = {.tx_thread_name = "alpha", .tx_thread_priority = 3, .tx_thread_created_next = &beta};
TX_THREAD beta = {.tx_thread_name = "beta", .tx_thread_priority = 4, .tx_thread_created_next = &gamma,
    .tx_thread_stack_ptr = stack + 4, .tx_thread_stack_start = stack, .tx_thread_stack_size = sizeof stack};
TX_THREAD gamma = {.tx_thread_name = "gamma", .tx_thread_stack_ptr = spoilt, .tx_thread_created_next = &alpha};
TX_THREAD *_tx_thread_current_ptr = &alpha, *_tx_thread_created_ptr = &alpha;
FUNCTION(_tx_time_get) FUNCTION(_tx_thread_relinquish) FUNCTION(_tx_thread_sleep)
#define BETA beta
#define GAMMA gamma

END
