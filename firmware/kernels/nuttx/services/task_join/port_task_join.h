/* NuttX's joinable threads, those of POSIX. The kernel allocates their memory at the start. */
#pragma once

#define PORT_TASK_JOIN_STACK_BYTES 1024u

/* A thread, and the attributes that it is started with. */
typedef struct {
    pthread_t thread;
    pthread_attr_t attributes;
    void (*function)(void);
} port_task_join_t;

/* Calls the task's function, and ends. Returns NULL. */
static void *port_task_join_begin(void *task)
{
    ((port_task_join_t *)task)->function();
    return NULL;
}

/* Prepares a task that calls `function` with an abstract priority. Returns false if the kernel refuses. */
static inline bool port_task_join_prepare(port_task_join_t *task, void (*function)(void), unsigned priority)
{
    struct sched_param is = {.sched_priority = (int)PORT_PRIORITY(priority)};
    pthread_attr_t *how = &task->attributes;
#ifdef CONFIG_SMP
    cpu_set_t cores = (cpu_set_t)(1u << port_core());
#endif

    task->function = function;
    return pthread_attr_init(how) == 0 && pthread_attr_setinheritsched(how, PTHREAD_EXPLICIT_SCHED) == 0 &&
           pthread_attr_setschedpolicy(how, SCHED_FIFO) == 0 && pthread_attr_setschedparam(how, &is) == 0 &&
#ifdef CONFIG_SMP
           pthread_attr_setaffinity_np(how, sizeof cores, &cores) == 0 &&
#endif
           pthread_attr_setstacksize(how, PORT_TASK_JOIN_STACK_BYTES) == 0;
}

/* Starts the task. Returns false if the kernel refuses. */
static inline bool port_task_join_start(port_task_join_t *task)
{
    return pthread_create(&task->thread, &task->attributes, port_task_join_begin, task) == 0;
}

/* Waits for the end of the task. Returns false if the kernel refuses. */
static inline bool port_task_join_wait(port_task_join_t *task)
{
    return pthread_join(task->thread, NULL) == 0;
}
