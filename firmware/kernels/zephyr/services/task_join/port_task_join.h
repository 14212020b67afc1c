/* Zephyr's threads, with memory of the application, and a call that waits for a thread's end. */
#pragma once

#define PORT_TASK_JOIN_STACK_BYTES 512u

/* A thread with its stack. */
typedef struct {
    struct k_thread thread;
    void (*function)(void);
    int priority;
    K_KERNEL_STACK_MEMBER(stack, PORT_TASK_JOIN_STACK_BYTES);
} port_task_join_t;

/* Runs as a thread: calls the task's function, and ends. */
static void port_task_join_begin(void *task, __attribute__((unused)) void *unused, __attribute__((unused)) void *unused_too)
{
    ((port_task_join_t *)task)->function();
}

/* Prepares a task that calls `function` with an abstract priority. Returns true: no call of Zephyr's is needed. */
static inline bool port_task_join_prepare(port_task_join_t *task, void (*function)(void), unsigned priority)
{
    task->function = function;
    task->priority = (int)PORT_PRIORITY(priority);
    return true;
}

/* Starts the task. Returns true: Zephyr's call cannot fail. */
static inline bool port_task_join_start(port_task_join_t *task)
{
    (void)k_thread_create(&task->thread, task->stack, PORT_TASK_JOIN_STACK_BYTES, port_task_join_begin, task, NULL, NULL,
                          task->priority, 0, K_NO_WAIT);
    return true;
}

/* Waits for the end of the task. Returns false if the kernel refuses. */
static inline bool port_task_join_wait(port_task_join_t *task)
{
    return k_thread_join(&task->thread, K_FOREVER) == 0;
}
