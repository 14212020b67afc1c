/* ChibiOS's threads, with memory of the application. A wait for a thread's end also releases the thread. */
#pragma once

#define PORT_TASK_JOIN_STACK_BYTES 512u

/* A thread, and the working area with its control block and stack. */
typedef struct {
    thread_t *thread;
    void (*function)(void);
    tprio_t priority;
    stkalign_t area[THD_WORKING_AREA_SIZE(PORT_TASK_JOIN_STACK_BYTES) / sizeof(stkalign_t)];
} port_task_join_t;

/* Calls the task's function, and ends. */
static void port_task_join_begin(void *task)
{
    ((port_task_join_t *)task)->function();
}

/* Prepares a task that calls `function` with an abstract priority. */
static inline bool port_task_join_prepare(port_task_join_t *task, void (*function)(void), unsigned priority)
{
    task->function = function;
    task->priority = PORT_PRIORITY(priority);
    return true;
}

/* Starts the task. */
static inline bool port_task_join_start(port_task_join_t *task)
{
    task->thread = chThdCreateStatic(task->area, sizeof task->area, task->priority, port_task_join_begin, task);
    return true;
}

/* Waits for the end of the task. */
static inline bool port_task_join_wait(port_task_join_t *task)
{
    (void)chThdWait(task->thread);
    return true;
}
