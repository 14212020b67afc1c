/* NuttX's high-priority work queue: a thread of the kernel calls the submitted functions. */
#pragma once

#include <nuttx/wqueue.h>

/* A function, and the kernel's object for its submission. If the function is submitted again before the kernel has called
 * it, the kernel calls it once. */
typedef struct {
    worker_t function;
    struct work_s kernels;
} port_work_t;
typedef port_work_t *port_work_callback_t;

/* Declares the function that NuttX calls, and its object. */
#define PORT_WORK_CALLBACK(name)                          \
    void name(void *unused_argument);                     \
    static port_work_t name##_work = {.function = (name)}; \
    static void name(__attribute__((unused)) void *unused_argument)

/* Submits a function that the kernel's thread shall call. Returns false if the kernel refuses. */
static inline bool port_work_submit(port_work_callback_t work)
{
    return work_queue(HPWORK, &work->kernels, work->function, NULL, 0) == OK;
}

/* Submits a function that the kernel's thread shall call, from a handler. Returns false if the kernel refuses. */
static inline bool port_work_submit_from_isr(port_work_callback_t work)
{
    return work_queue(HPWORK, &work->kernels, work->function, NULL, 0) == OK;
}

/* The callers name the function, and the port needs its object. */
#define port_work_submit(function) port_work_submit(&function##_work)
#define port_work_submit_from_isr(function) port_work_submit_from_isr(&function##_work)
