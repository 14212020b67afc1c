"""Ports broken on purpose, each in the way that a check of the conformance suite looks for."""

from dataclasses import dataclass

FREERTOS, RT, BARE = ("kernels/freertos/port", "kernels/rt/port", "kernels/bare/port")
TIMER = "kernels/freertos/services/timer"
FREERTOS_SERVICES, RT_SERVICES = ("kernels/freertos/services", "kernels/rt/services")
CONTEXT = "conformance/tasks/context.c"


@dataclass(frozen=True)
class Break:
    """One way to break a port (a text replaced by another in one file), and the checks that must see it."""

    kernel: str
    file: str
    old: str
    new: str
    fails: frozenset[str]
    board: str = "pico"


def _break(kernel: str, file: str, old: str, new: str, *fails: str, board: str = "pico") -> Break:
    return Break(kernel, file, old, new, frozenset(fails), board)


BREAKS = {
    "priorities upside down": _break(
        "freertos", f"{FREERTOS}.c", "PORT_PRIORITY(request->priority);\n    configSTACK",
        "(request->priority == PORT_PRIORITY_MAX ? PORT_PRIORITY_MAX + 1u : 4u - request->priority);\n    configSTACK",
        "priority_order", "preempt_by_give", "wake_urgent", "notify_order", "isr_preempts",
    ),
    "all priorities the same": _break(
        "rt", f"{RT}.c", "(uint32_t)PORT_PRIORITY_MAX - request->priority",
        "(request->priority == PORT_PRIORITY_MAX ? 0u : 5u)", "priority_order", "wake_urgent", "isr_preempts",
    ),
    "a yield every other time": _break(
        "freertos", f"{FREERTOS}.h", "    taskYIELD();\n",
        "    static bool odd;\n\n    odd = !odd;\n    if (odd) {\n        taskYIELD();\n    }\n", "yield_order",
    ),
    "slices that the port denies": _break(
        "rt", f"{RT}.h", "#define PORT_TIME_SLICE_TICKS KERNEL_TIME_SLICE_TICKS", "#define PORT_TIME_SLICE_TICKS 0",
        "time_slice",
    ),
    "slices that do not happen": _break(
        "freertos", f"{FREERTOS}.h", "(configUSE_PREEMPTION && configUSE_TIME_SLICING ? 1 : 0)", "1", "time_slice"
    ),
    "a handler that does not ask for the switch": _break(
        "freertos", f"{FREERTOS}.h", "    portYIELD_FROM_ISR(woken);\n", "    (void)woken;\n", "isr_preempts"
    ),
    "a resume that does not ask for the switch": _break(
        "freertos", f"{FREERTOS}.h", "    portYIELD_FROM_ISR(xTaskResumeFromISR(task));\n",
        "    (void)xTaskResumeFromISR(task);\n", "isr_resumes",
    ),
    "a notification whose handler does not ask for the switch": _break(
        "freertos", f"{FREERTOS}.h", "    vTaskNotifyGiveFromISR(task, &woken);\n    portYIELD_FROM_ISR(woken);\n",
        "    vTaskNotifyGiveFromISR(task, &woken);\n    (void)woken;\n", "isr_notifies",
    ),
    "a handler's notification that only who waits gets": _break(
        "rt", f"{RT}.h", "static inline void port_notify_give_from_isr(port_task_t task)\n{\n",
        "static inline void port_notify_give_from_isr(port_task_t task)\n{\n"
        "    if (task->notification.sem.value >= 0) {\n        return;\n    }\n", "isr_notifies",
    ),
    "a semaphore given twice": _break(
        "rt", f"{RT}.h", "    rt_sem_post(semaphore);", "    rt_sem_post(semaphore);\n    rt_sem_post(semaphore);",
        "wake_urgent", "wake_first",
    ),
    "a binary semaphore that counts": _break(
        "bare", f"{BARE}.h", "    semaphore->maximum = maximum;\n", "    semaphore->maximum = 9;\n",
        "semaphore_counts", "semaphore_binary",
    ),
    "a handler's give that is lost": _break(
        "bare", f"{BARE}.c", "void bare_semaphore_give_from_isr(struct bare_semaphore *semaphore)\n{\n",
        "void bare_semaphore_give_from_isr(struct bare_semaphore *semaphore)\n{\n    return;\n", "isr_gives",
    ),
    "time-outs one tick late": _break(
        "rt", f"{RT}.h", "rt_sem_timedwait(semaphore, ticks)",
        "rt_sem_timedwait(semaphore, ticks == 0 ? 0 : ticks + 1)", "timeout_expires",
    ),
    "a take with a time-out that only sleeps": _break(
        "freertos", f"{FREERTOS}.h", "    return xSemaphoreTake(*semaphore, ticks) == pdTRUE;\n",
        "    vTaskDelay(ticks);\n    return xSemaphoreTake(*semaphore, 0) == pdTRUE;\n", "timeout_given",
    ),
    "sleeps one tick short": _break(
        "freertos", f"{FREERTOS}.h", "    vTaskDelay(ticks);\n", "    vTaskDelay(ticks > 4 ? ticks - 1 : ticks);\n",
        "sleep_ticks",
    ),
    "a period that begins anew": _break(
        "freertos", f"{FREERTOS}.h", "    (void)xTaskDelayUntil(tick, ticks);\n",
        "    *tick += ticks;\n    vTaskDelay(ticks);\n", "sleep_until", "sleep_until_held",
    ),
    "a sleep that looks at the clock before it masks the tick": _break(
        "freertos", f"{FREERTOS}.h", "    (void)xTaskDelayUntil(tick, ticks);\n",
        "    vTaskDelay(((*tick += ticks) - xTaskGetTickCount()) % 64u);\n", "sleep_until_any_phase",
    ),
    "a sleep that tells when the task ran again": _break(
        "freertos", f"{FREERTOS}.h", "    (void)xTaskDelayUntil(tick, ticks);\n",
        "    (void)xTaskDelayUntil(tick, ticks);\n    *tick = xTaskGetTickCount();\n", "sleep_until_held",
    ),
    "a tick in sixteen lost": _break(
        "rt", f"{RT}.c", "    rt_tick_advance();\n",
        "    static uint32_t ticks;\n\n    if (++ticks % 16u != 0) {\n        rt_tick_advance();\n    }\n",
        "tick_rate",
    ),
    "a tick too slow": _break(
        "bare", f"{BARE}.c", "start(TICK_CYCLES);\n", "start(TICK_CYCLES + 5001u);\n", "tick_rate", "tick_count"
    ),
    "a critical section that is open": _break(
        "bare", f"{BARE}.c", "    return cpu_mask_interrupts();\n}", "    return 0;\n}", "critical_masks"
    ),
    "a queue that forgets to move on": _break(
        "bare", f"{BARE}.c", "    queue->read_slot = next_slot(queue, queue->read_slot);\n",
        "    queue->read_slot = next_slot(queue, queue->write_slot);\n", "queue_order",
    ),
    "a queue that waits for nobody": _break(
        "rt", f"{RT}.h", "    rt_queue_push(queue, item); /* cannot fail */\n    return true;",
        "    return rt_queue_trypush(queue, item);", "queue_blocks",
    ),
    "a mutex without inheritance": _break(
        "freertos", f"{FREERTOS}.h", "    *mutex = xSemaphoreCreateMutex();\n    return *mutex != NULL;",
        "    *mutex = xSemaphoreCreateBinary();\n    return *mutex != NULL && xSemaphoreGive(*mutex) == pdTRUE;",
        "mutex_inherits",
    ),
    "a notification that nobody waits for": _break(
        "rt", f"{RT}.h",
        "    (void)rt_notify_wait(&((struct port_task *)rt_active_task)->notification);\n",
        "    (void)rt_active_task;\n", "notify_order",
    ),
    "a suspension that is none": _break(
        "freertos", f"{FREERTOS}.h", "    vTaskSuspend(NULL);\n", "    taskYIELD();\n", "suspend_order"
    ),
    "stack figures made up": _break(
        "rt", f"{RT}.c", "    return stack_bytes - untouched_bytes(task->task.stack, stack_bytes, STACK_FILL);\n",
        "    return untouched_bytes(task->task.stack, stack_bytes, STACK_FILL) == 0 ? stack_bytes : stack_bytes / 2;\n",
        "stack_figures",
    ),
    "heap figures made up": _break(
        "freertos", f"{FREERTOS}.c", "stats.xMinimumEverFreeBytesRemaining", "stats.xAvailableHeapSpaceInBytes",
        "heap_figures",
    ),
    "pieces that are not told": _break(
        "freertos", f"{FREERTOS}.c", "figures->pieces = stats.xNumberOfFreeBlocks;", "figures->pieces = 1;",
        "heap_pieces",
    ),
    "a take that polls": _break(
        "freertos", f"{FREERTOS}.h", "    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;\n",
        "    while (xSemaphoreTake(*semaphore, 0) != pdTRUE) {\n        vTaskDelay(1);\n    }\n    return true;\n",
        "isr_preempts", "preempt_by_give",
    ),
    "woken last, every other time": _break(
        "rt", f"{RT}.h", "    rt_sem_wait(semaphore); /* cannot fail */\n",
        "    static bool odd;\n\n    rt_sem_wait(semaphore);\n    odd = !odd;\n    if (odd) {\n"
        "        rt_task_yield();\n    }\n", "ready_order",
    ),
    "a mutex given up a tick late": _break(
        "rt", f"{RT}.h", "rt_mutex_timedlock(mutex, ticks)", "rt_mutex_timedlock(mutex, ticks == 0 ? 0 : ticks + 1)",
        "mutex_gives_up",
    ),
    "a mutex that gives back what it denies": _break(
        "freertos", "kernels/freertos/kernel.toml", "mutex_gives_back = true", "mutex_gives_back = false",
        "mutex_gives_back",
    ),
    "blocks at odd places": _break(
        "freertos", f"{FREERTOS}.h", "    return pvPortMalloc(bytes);",
        "    return (char *)pvPortMalloc(bytes + 4) + 4;", "heap_blocks",
    ),
    "a pool that contains one block twice": _break(
        "bare", "kernels/bare/pointers.c", "        pool->free = *(void **)block;\n",
        "        static void *last;\n\n        pool->free = last == NULL ? block : *(void **)block;\n"
        "        last = block;\n", "pool_blocks",
    ),
    "a queue of pointers that keeps them": _break(
        "bare", "kernels/bare/pointers.c", "    queue->read_slot = next_slot(queue, queue->read_slot);\n", "",
        "pointer_queue_order",
    ),
    "a condition that polls": _break(
        "rt", f"{RT}.h", "    rt_cond_wait(condition, mutex);\n",
        "    (void)condition;\n    rt_mutex_unlock(mutex);\n    rt_task_sleep(1);\n    rt_mutex_lock(mutex);\n",
        "condition_wakes",
    ),
    "a count that only says whether": _break(
        "bare", f"{BARE}.c", "    return semaphore->count;\n", "    return semaphore->count != 0;\n",
        "semaphore_figures",
    ),
    "a mailbox that gives out something else": _break(
        "bare", f"{BARE}.h", "    *message = bare_mailbox_receive(mailbox);\n",
        "    *message = (char *)bare_mailbox_receive(mailbox) + 4;\n", "mailbox_keeps",
    ),
    "a mailbox of two": _break(
        "freertos", f"{FREERTOS}.h", "xQueueCreate(1, sizeof(void *))", "xQueueCreate(2, sizeof(void *))",
        "mailbox_blocks",
    ),
    "bits that are not taken": _break(
        "freertos", f"{FREERTOS}.h", "bits, pdTRUE, pdFALSE, portMAX_DELAY", "bits, pdFALSE, pdFALSE, portMAX_DELAY",
        "event_bits",
    ),
    "a wait for all that any bit ends": _break(
        "rt", f"{RT}.h", "bits | RT_EVENT_WAIT_ALL", "bits", "event_wakes"
    ),
    "a handler that sets a bit too many": _break(
        "bare", f"{BARE}.h", "    bare_event_set_from_isr(event, bits);\n",
        "    bare_event_set_from_isr(event, bits | 128u);\n", "isr_sets",
    ),
    "an event's handler that does not ask for the switch": _break(
        "freertos", f"{FREERTOS}.h", "SetBitsFromISR(*event, bits, &woken);\n    portYIELD_FROM_ISR(woken);\n",
        "SetBitsFromISR(*event, bits, &woken);\n    (void)woken;\n", "isr_sets_preempts",
    ),
    "a full queue that says it was sent": _break(
        "bare", f"{BARE}.h", "    return bare_queue_try_send(queue, item);\n",
        "    (void)bare_queue_try_send(queue, item);\n    return true;\n", "isr_sends",
    ),
    "a queue's handler that does not ask for the switch": _break(
        "freertos", f"{FREERTOS}.h", "    portYIELD_FROM_ISR(woken);\n    return sent;\n",
        "    (void)woken;\n    return sent;\n", "isr_sends_preempts",
    ),
    "the caller's priority instead of the task's": _break(
        "freertos", f"{FREERTOS}.h", "    return uxTaskPriorityGet(task);\n",
        "    (void)task;\n    return uxTaskPriorityGet(NULL);\n", "priority_figures",
    ),
    "a raise that stops at the raiser": _break(
        "freertos", f"{FREERTOS}.h", "    vTaskPrioritySet(task, priority);\n",
        "    vTaskPrioritySet(task, priority < 4u ? priority : 4u);\n", "priority_changes",
    ),
    "a suspension of another that is none": _break(
        "freertos", f"{FREERTOS}.h", "    vTaskSuspend(task);\n", "    (void)task;\n", "suspend_another"
    ),
    "a deletion that is none": _break(
        "freertos", f"{FREERTOS}.h", "    vTaskDelete(task);\n", "    (void)task;\n", "dynamic_tasks"
    ),
    "a one-shot timer that calls again": _break(
        "freertos", f"{TIMER}/port_timer.h", "periodic ? pdTRUE : pdFALSE", "periodic ? pdTRUE : pdTRUE",
        "timer_once", "timer_stops",
    ),
    "timers a tick too long": _break(
        "rt", "kernels/rt/services/timer/port_timer.h", "callback, ticks, periodic", "callback, ticks + 1u, periodic",
        "timer_once", "timer_periodic", "timer_stops",
    ),
    "a stop of a timer that is none": _break(
        "freertos", f"{TIMER}/port_timer.h", "    return xTimerStop(*timer, portMAX_DELAY) == pdPASS;\n",
        "    (void)timer;\n    return true;\n", "timer_periodic", "timer_stops",
    ),
    "another caller of timers' functions than declared": _break(
        "freertos", f"{TIMER}/service.toml", 'timer_callback = "task"', 'timer_callback = "interrupt"', "timer_context"
    ),
    "work whose handler does not ask for the switch": _break(
        "freertos", "kernels/freertos/services/work/port_work.h", "    portYIELD_FROM_ISR(woken);\n",
        "    (void)woken;\n", "work_calls",
    ),
    "a broadcast that wakes one": _break(
        "rt", f"{RT_SERVICES}/condition_broadcast/port_condition_broadcast.h", "rt_cond_broadcast(variable)",
        "rt_cond_signal(variable)", "condition_broadcasts",
    ),
    "a write lock that waits for nobody": _break(
        "rt", f"{RT_SERVICES}/rwlock/port_rwlock.h", "    rt_rwlock_wrlock(lock); /* cannot fail */\n    return true;",
        "    return rt_rwlock_trywrlock(lock);", "rwlock_shares", "rwlock_excludes",
    ),
    "flags that a wait leaves as they are": _break(
        "freertos", f"{FREERTOS_SERVICES}/task_events/port_task_events.h", "xTaskNotifyWait(0, UINT32_MAX,",
        "xTaskNotifyWait(0, 0,", "task_events_wake",
    ),
    "a flag whose handler does not ask for the switch": _break(
        "freertos", f"{FREERTOS_SERVICES}/task_events/port_task_events.h", "    portYIELD_FROM_ISR(woken);\n",
        "    (void)woken;\n", "isr_sets_task_events",
    ),
    "a kernel's binary semaphore that counts": _break(
        "freertos", f"{FREERTOS_SERVICES}/binary_semaphore/port_binary_semaphore.h", "xSemaphoreCreateBinary()",
        "xSemaphoreCreateCounting(9, 0)", "binary_semaphore_fills",
    ),
    "floating-point registers not kept": _break(
        "freertos", CONTEXT, "    fill_fp_registers(other_pattern);\n    note(2);\n",
        '    __asm volatile("vldmia %0, {s16-s31}" : : "r"(other_pattern));\n    note(2);\n', "fp_registers",
        board="nucleo-f446re",
    ),
}  # fmt: skip
