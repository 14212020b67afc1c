/* FreeRTOS's core affinity: a mask with one core in it. */
#pragma once

/* Binds a task to a core. A task that binds itself to another core continues there before the call returns. */
static inline void port_affinity_set(port_task_t task, unsigned core)
{
    vTaskCoreAffinitySet(task, (UBaseType_t)1u << core);
}
