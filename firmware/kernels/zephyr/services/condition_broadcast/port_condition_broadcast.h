/* Zephyr's condition variables: all waiters at once. */
#pragma once

/* Wakes all tasks that wait for a condition variable. */
static inline void port_condition_broadcast(port_condition_t *variable)
{
    (void)k_condvar_broadcast(variable);
}
