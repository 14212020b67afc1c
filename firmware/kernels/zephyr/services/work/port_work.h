/* Zephyr's system work queue: a thread of the kernel, which no other thread preempts, calls the submitted functions. */
#pragma once

/* The kernel's object for the submission of one function. If the function is submitted again before the kernel has called
 * it, the kernel calls it once. */
typedef struct k_work *port_work_callback_t;

/* Declares the function that Zephyr calls, and its object. */
#define PORT_WORK_CALLBACK(name)              \
    void name(struct k_work *unused_work);    \
    static K_WORK_DEFINE(name##_work, (name)); \
    static void name(__attribute__((unused)) struct k_work *unused_work)

/* Submits a function that the kernel's thread shall call. Returns false if the kernel refuses. */
static inline bool port_work_submit(port_work_callback_t work)
{
    return k_work_submit(work) >= 0;
}

/* Submits a function that the kernel's thread shall call, from a handler. Returns false if the kernel refuses. */
static inline bool port_work_submit_from_isr(port_work_callback_t work)
{
    return k_work_submit(work) >= 0;
}

/* The callers name the function, and the port needs its object. */
#define port_work_submit(function) port_work_submit(&function##_work)
#define port_work_submit_from_isr(function) port_work_submit_from_isr(&function##_work)
