/* FreeRTOS behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ configTICK_RATE_HZ
/* Priority 0 of FreeRTOS belongs to the idle task, so a benchmark's priority 0 is FreeRTOS's 1. */
#define PORT_PRIORITY_MAX (configMAX_PRIORITIES - 2)
#define PORT_TIME_SLICE_TICKS (configUSE_PREEMPTION && configUSE_TIME_SLICING ? 1 : 0)
#define PORT_PRIORITY(abstract) ((UBaseType_t)(abstract) + 1u)
#define PORT_ISR_URGENCY configBENCH_ISR_URGENCY
/* The kernel uses the most significant byte of the word itself. */
#define PORT_EVENT_BITS 24

typedef TaskHandle_t port_task_t;
/* The kernel counts how deep critical sections are nested, so the port needs to store nothing. */
typedef int port_critical_t;
typedef SemaphoreHandle_t port_semaphore_t;
typedef SemaphoreHandle_t port_mutex_t;
typedef QueueHandle_t port_queue_t;
typedef QueueHandle_t port_mailbox_t;
typedef EventGroupHandle_t port_event_t;

bool port_task_create(port_task_t *task, const struct port_task_request *request);
void port_start(void);
void port_heap_figures(struct port_heap_figures *figures);
void port_heap_free(struct port_heap_free *figures);

/* Does nothing: FreeRTOS needs no preparation. */
static inline void port_prepare(void)
{
}

/* Does nothing: FreeRTOS need not know that a handler begins. */
static inline void port_isr_enter(void)
{
}

/* Does nothing: in FreeRTOS the call that wakes a task also requests the switch to it. */
static inline void port_isr_exit(void)
{
}

/* Returns the number of the calling core. */
static inline unsigned port_core(void)
{
    return (unsigned)portGET_CORE_ID();
}

/* Returns the number of the kernel's present tick. */
static inline uint32_t port_tick_now(void)
{
    return xTaskGetTickCount();
}

/* Returns the address of a task's control block. */
static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

/* Returns how many bytes of a task's stack were used at most. */
static inline uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - (uint32_t)(uxTaskGetStackHighWaterMark(task) * sizeof(StackType_t));
}

/* Enters a critical section. Returns the state for `port_critical_exit`. */
static inline port_critical_t port_critical_enter(void)
{
    taskENTER_CRITICAL();
    return 0;
}

/* Leaves a critical section, and restores the state from its begin. */
static inline void port_critical_exit(port_critical_t entered)
{
    (void)entered;
    taskEXIT_CRITICAL();
}

/* Lets the calling task sleep until the n-th tick from now. */
static inline void port_sleep_ticks(uint32_t ticks)
{
    vTaskDelay(ticks);
}

/* Lets the calling task sleep until the n-th tick after `tick`, and advances `tick`. */
static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    (void)xTaskDelayUntil(tick, ticks);
}

/* Lets the next ready task of the same priority run. */
static inline void port_yield(void)
{
    taskYIELD();
}

/* Gives a notification to a task. */
static inline void port_notify_give(port_task_t task)
{
    (void)xTaskNotifyGive(task); /* cannot fail */
}

/* Gives a notification to a task, from a handler. */
static inline void port_notify_give_from_isr(port_task_t task)
{
    BaseType_t woken = pdFALSE;

    vTaskNotifyGiveFromISR(task, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Waits for a notification to the calling task, and takes it. */
static inline void port_notify_take(port_task_t self)
{
    (void)self;
    (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
}

/* Suspends the calling task. */
static inline void port_suspend_self(port_task_t self)
{
    (void)self;
    vTaskSuspend(NULL);
}

/* Lets a suspended task continue. */
static inline void port_resume(port_task_t task)
{
    vTaskResume(task);
}

/* Lets a suspended task continue, from a handler. */
static inline void port_resume_from_isr(port_task_t task)
{
    portYIELD_FROM_ISR(xTaskResumeFromISR(task));
}

/* Suspends another task. */
static inline void port_suspend(port_task_t task)
{
    vTaskSuspend(task);
}

/* Returns a task's priority, in the kernel's own numbers. */
static inline uint32_t port_priority_get(port_task_t task)
{
    return uxTaskPriorityGet(task);
}

/* Sets a task's priority, in the kernel's own numbers. */
static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    vTaskPrioritySet(task, priority);
}

/* Creates a task on its core while the kernel runs. Returns false if it fails. The function is inline: so the compiler
 * works out what depends on the request alone if the request is a constant. */
static inline bool port_task_spawn(port_task_t *task, const struct port_task_request *request)
{
    configSTACK_DEPTH_TYPE depth = (configSTACK_DEPTH_TYPE)(request->stack_bytes / sizeof(StackType_t));

#if configNUMBER_OF_CORES > 1
    return xTaskCreateAffinitySet(request->entry, request->name, depth, request->argument,
                                  PORT_PRIORITY(request->priority), (UBaseType_t)1u << request->core, task) == pdPASS;
#else
    return xTaskCreate(request->entry, request->name, depth, request->argument, PORT_PRIORITY(request->priority),
                       task) == pdPASS;
#endif
}

/* Deletes a task of the calling core. */
static inline void port_task_delete(port_task_t task)
{
    vTaskDelete(task);
}

/* Creates a semaphore with a maximum and an initial count. Returns false if it fails. */
static inline bool port_semaphore_create(port_semaphore_t *semaphore, uint32_t maximum, uint32_t initial)
{
    /* A binary semaphore is the kernel's own kind, not a counting one of one. */
    if (maximum == 1) {
        *semaphore = xSemaphoreCreateBinary();
        return *semaphore != NULL && (initial == 0 || xSemaphoreGive(*semaphore) == pdTRUE);
    }
    *semaphore = xSemaphoreCreateCounting(maximum, initial);
    return *semaphore != NULL;
}

/* Takes a semaphore, and waits for as long as its count is 0. Returns false if the kernel refuses. */
static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;
}

/* Takes a semaphore, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return xSemaphoreTake(*semaphore, ticks) == pdTRUE;
}

/* Gives a semaphore, and wakes the most urgent waiter. Returns false if the kernel refuses. */
static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return xSemaphoreGive(*semaphore) == pdTRUE;
}

/* Gives a semaphore, from a handler. */
static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    BaseType_t woken = pdFALSE;

    (void)xSemaphoreGiveFromISR(*semaphore, &woken);
    portYIELD_FROM_ISR(woken);
}

/* Returns how many takes of a semaphore would succeed now. */
static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    return uxSemaphoreGetCount(*semaphore);
}

/* Creates a mutex with priority inheritance. Returns false if it fails. */
static inline bool port_mutex_create(port_mutex_t *mutex)
{
    *mutex = xSemaphoreCreateMutex();
    return *mutex != NULL;
}

/* Locks a mutex, and waits for as long as another task holds it. Returns false if the kernel refuses. */
static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return xSemaphoreTake(*mutex, portMAX_DELAY) == pdTRUE;
}

/* Locks a mutex, and waits until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return xSemaphoreTake(*mutex, ticks) == pdTRUE;
}

/* Unlocks a mutex that the calling task holds. Returns false if the kernel refuses. */
static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return xSemaphoreGive(*mutex) == pdTRUE;
}

/* Creates a queue of `length` items of `item_bytes` bytes. Returns false if it fails. */
static inline bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    *queue = xQueueCreate(length, item_bytes);
    return *queue != NULL;
}

/* Copies an item into a queue. If the queue is full, it waits (with the service `queue_send_waits`) or returns
 * false. */
static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return xQueueSend(*queue, item, portMAX_DELAY) == pdTRUE;
}

/* Waits for an item of a queue, and copies it out. Returns false if the kernel refuses. */
static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return xQueueReceive(*queue, item, portMAX_DELAY) == pdTRUE;
}

/* Copies an item into a queue, from a handler. Returns false if the queue is full. */
static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    BaseType_t woken = pdFALSE;
    bool sent = xQueueSendFromISR(*queue, item, &woken) == pdTRUE;

    portYIELD_FROM_ISR(woken);
    return sent;
}

/* Copies an item out of a queue, from a handler. Returns false if the queue is empty. */
static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    BaseType_t woken = pdFALSE;
    bool received = xQueueReceiveFromISR(*queue, item, &woken) == pdTRUE;

    portYIELD_FROM_ISR(woken);
    return received;
}

/* Creates a mailbox, which contains one pointer. Returns false if it fails. The kernel has no mailbox; its manual makes
 * one of a queue of one item. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    *mailbox = xQueueCreate(1, sizeof(void *));
    return *mailbox != NULL;
}

/* Puts a pointer into a mailbox. If there is one already, it waits (with the service
 * `mailbox_send_waits`) or returns false. */
static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return xQueueSend(*mailbox, &message, portMAX_DELAY) == pdTRUE;
}

/* Waits for a pointer in a mailbox, and takes it out. Returns false if the kernel refuses. */
static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return xQueueReceive(*mailbox, message, portMAX_DELAY) == pdTRUE;
}

/* Waits for a pointer in a mailbox until the n-th tick at most. Returns false if the time is over. */
static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return xQueueReceive(*mailbox, message, ticks) == pdTRUE;
}

/* Creates an event group. Returns false if it fails. */
static inline bool port_event_create(port_event_t *event)
{
    *event = xEventGroupCreate();
    return *event != NULL;
}

/* Sets bits of an event group, and wakes the tasks that wait for them. */
static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)xEventGroupSetBits(*event, bits);
}

/* Clears bits of an event group. */
static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)xEventGroupClearBits(*event, bits);
}

/* Waits for one of these bits, and clears those that it waited for. Returns the bits that were set before,
 * at least those of `bits`. */
static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    return xEventGroupWaitBits(*event, bits, pdTRUE, pdFALSE, portMAX_DELAY);
}

/* Waits for one of these bits until the n-th tick at most. Returns whether one was set. */
static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    return (xEventGroupWaitBits(*event, bits, pdTRUE, pdFALSE, ticks) & bits) != 0;
}

/* Waits for all of these bits, and clears them. Returns the bits that were set before, at least those of `bits`. */
static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    return xEventGroupWaitBits(*event, bits, pdTRUE, pdTRUE, portMAX_DELAY);
}

#if BENCH_NEEDS_EVENT_FROM_ISR
/* Sets bits of an event group, from a handler. A handler cannot set bits itself in this kernel: it sends a message to
 * the timer task, which sets them. That is why this service costs a task. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    BaseType_t woken = pdFALSE;

    (void)xEventGroupSetBitsFromISR(*event, bits, &woken);
    portYIELD_FROM_ISR(woken);
}
#endif

/* Allocates bytes from the kernel's heap. Returns NULL if it has too few left. */
static inline void *port_malloc(size_t bytes)
{
    return pvPortMalloc(bytes);
}

/* Frees a block of the kernel's heap. */
static inline void port_free(void *block)
{
    vPortFree(block);
}
