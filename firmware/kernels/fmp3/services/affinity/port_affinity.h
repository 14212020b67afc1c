/* FMP3's migration of tasks. */
#pragma once

/* Moves a task of the calling core to a core. A task that moves itself continues there before the call returns. */
static inline void port_affinity_set(port_task_t task, unsigned core)
{
    (void)mig_tsk(task, (ID)(core + PRC1));
}
