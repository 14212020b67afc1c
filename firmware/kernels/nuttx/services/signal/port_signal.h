/* NuttX's signals, those of POSIX: SIGUSR1 is blocked, and its task waits for it. */
#pragma once

#include <signal.h>

/* The signal that tasks wait for. */
static sigset_t port_signal_awaited;

/* Prepares the calling task for signals. Returns false if the kernel refuses. */
static inline bool port_signal_prepare(void)
{
    return sigemptyset(&port_signal_awaited) == 0 && sigaddset(&port_signal_awaited, SIGUSR1) == 0 &&
           pthread_sigmask(SIG_BLOCK, &port_signal_awaited, NULL) == 0;
}

/* Sends the signal for which a task waits. Returns false if the kernel refuses. */
static inline bool port_signal_send(port_task_t task)
{
    return pthread_kill(task->thread, SIGUSR1) == 0;
}

/* Waits for the signal, and takes it. Returns false if another signal has interrupted the wait. */
static inline bool port_signal_wait(void)
{
    return sigwaitinfo(&port_signal_awaited, NULL) == SIGUSR1;
}
