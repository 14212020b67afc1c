/* Codes of the `error` record. Numbers are never reused; the record's detail says the rest in words. */
#pragma once

enum bench_error_code {
    ERROR_LINE_TOO_LONG = 1, /* a record does not fit the wire format */
    ERROR_TASK_CREATE = 2,   /* the kernel did not create a task */
    ERROR_WRONG_CORE = 3,    /* a task runs on a core it was not pinned to */
    ERROR_PREPARE = 4,       /* a benchmark's set-up failed */
    ERROR_STUCK = 5,         /* a task did not reach the next synchronisation point in time */
    ERROR_KERNEL_START = 6,  /* the kernel's start function returned, which it must not do */
    ERROR_NO_MEMORY = 7,     /* the kernel's heap is used up */
    ERROR_TASK_RETURNED = 8, /* a task function returned */
    ERROR_CORE1_SILENT = 9,  /* the second core did not start */
    ERROR_VECTOR = 10,       /* an interrupt's vector does not lead to its handler */
    ERROR_SAMPLES = 11,      /* a series did not collect its samples within the time limit */
};
