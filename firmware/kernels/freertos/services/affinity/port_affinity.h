/* FreeRTOS's core affinity: a mask with one core in it. */
#pragma once

static inline void port_affinity_set(port_task_t task, unsigned core)
{
    vTaskCoreAffinitySet(task, (UBaseType_t)1u << core);
}
