/* FreeRTOS behind the port contract. Each function is one call of the kernel, inlined away. */
#pragma once

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#define PORT_CONTRACT 3
#define PORT_TICK_HZ configTICK_RATE_HZ
/* FreeRTOS priority 0 is the idle task's; abstract 0 is therefore 1. */
#define PORT_PRIORITY_MAX (configMAX_PRIORITIES - 2)
#define PORT_TIME_SLICE_TICKS (configUSE_PREEMPTION && configUSE_TIME_SLICING ? 1 : 0)
#define PORT_PRIORITY(abstract) ((UBaseType_t)(abstract) + 1u)
#define PORT_ISR_URGENCY configBENCH_ISR_URGENCY
/* The most significant byte of the word is the kernel's own. */
#define PORT_EVENT_BITS 24

typedef TaskHandle_t port_task_t;
/* The kernel counts how deep critical sections are nested: nothing to carry. */
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

static inline void port_prepare(void)
{
}

static inline void port_isr_enter(void)
{
}

static inline void port_isr_exit(void)
{
}

static inline unsigned port_core(void)
{
    return (unsigned)portGET_CORE_ID();
}

static inline uint32_t port_tick_now(void)
{
    return xTaskGetTickCount();
}

static inline uintptr_t port_task_address(port_task_t task)
{
    return (uintptr_t)task;
}

static inline uint32_t port_stack_used_bytes(port_task_t task, uint32_t stack_bytes)
{
    return stack_bytes - (uint32_t)(uxTaskGetStackHighWaterMark(task) * sizeof(StackType_t));
}

static inline port_critical_t port_critical_enter(void)
{
    taskENTER_CRITICAL();
    return 0;
}

static inline void port_critical_exit(port_critical_t entered)
{
    (void)entered;
    taskEXIT_CRITICAL();
}

static inline void port_sleep_ticks(uint32_t ticks)
{
    vTaskDelay(ticks);
}

static inline void port_sleep_until(uint32_t *tick, uint32_t ticks)
{
    (void)xTaskDelayUntil(tick, ticks);
}

static inline void port_yield(void)
{
    taskYIELD();
}

static inline void port_notify_give(port_task_t task)
{
    (void)xTaskNotifyGive(task); /* cannot fail */
}

static inline void port_notify_give_from_isr(port_task_t task)
{
    BaseType_t woken = pdFALSE;

    vTaskNotifyGiveFromISR(task, &woken);
    portYIELD_FROM_ISR(woken);
}

static inline void port_notify_take(port_task_t self)
{
    (void)self;
    (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
}

static inline void port_suspend_self(port_task_t self)
{
    (void)self;
    vTaskSuspend(NULL);
}

static inline void port_resume(port_task_t task)
{
    vTaskResume(task);
}

static inline void port_resume_from_isr(port_task_t task)
{
    portYIELD_FROM_ISR(xTaskResumeFromISR(task));
}

static inline void port_suspend(port_task_t task)
{
    vTaskSuspend(task);
}

static inline uint32_t port_priority_get(port_task_t task)
{
    return uxTaskPriorityGet(task);
}

static inline void port_priority_set(port_task_t task, uint32_t priority)
{
    vTaskPrioritySet(task, priority);
}

/* What it works out from the request is worked out by the compiler where the request is a constant. */
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

static inline void port_task_delete(port_task_t task)
{
    vTaskDelete(task);
}

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

static inline bool port_semaphore_take(port_semaphore_t *semaphore)
{
    return xSemaphoreTake(*semaphore, portMAX_DELAY) == pdTRUE;
}

static inline bool port_semaphore_take_for(port_semaphore_t *semaphore, uint32_t ticks)
{
    return xSemaphoreTake(*semaphore, ticks) == pdTRUE;
}

static inline bool port_semaphore_give(port_semaphore_t *semaphore)
{
    return xSemaphoreGive(*semaphore) == pdTRUE;
}

static inline void port_semaphore_give_from_isr(port_semaphore_t *semaphore)
{
    BaseType_t woken = pdFALSE;

    (void)xSemaphoreGiveFromISR(*semaphore, &woken);
    portYIELD_FROM_ISR(woken);
}

static inline uint32_t port_semaphore_count(port_semaphore_t *semaphore)
{
    return uxSemaphoreGetCount(*semaphore);
}

static inline bool port_mutex_create(port_mutex_t *mutex)
{
    *mutex = xSemaphoreCreateMutex();
    return *mutex != NULL;
}

static inline bool port_mutex_lock(port_mutex_t *mutex)
{
    return xSemaphoreTake(*mutex, portMAX_DELAY) == pdTRUE;
}

static inline bool port_mutex_lock_for(port_mutex_t *mutex, uint32_t ticks)
{
    return xSemaphoreTake(*mutex, ticks) == pdTRUE;
}

static inline bool port_mutex_unlock(port_mutex_t *mutex)
{
    return xSemaphoreGive(*mutex) == pdTRUE;
}

static inline bool port_queue_create(port_queue_t *queue, uint32_t length, uint32_t item_bytes)
{
    *queue = xQueueCreate(length, item_bytes);
    return *queue != NULL;
}

static inline bool port_queue_send(port_queue_t *queue, const void *item)
{
    return xQueueSend(*queue, item, portMAX_DELAY) == pdTRUE;
}

static inline bool port_queue_receive(port_queue_t *queue, void *item)
{
    return xQueueReceive(*queue, item, portMAX_DELAY) == pdTRUE;
}

static inline bool port_queue_send_from_isr(port_queue_t *queue, const void *item)
{
    BaseType_t woken = pdFALSE;
    bool sent = xQueueSendFromISR(*queue, item, &woken) == pdTRUE;

    portYIELD_FROM_ISR(woken);
    return sent;
}

static inline bool port_queue_receive_from_isr(port_queue_t *queue, void *item)
{
    BaseType_t woken = pdFALSE;
    bool received = xQueueReceiveFromISR(*queue, item, &woken) == pdTRUE;

    portYIELD_FROM_ISR(woken);
    return received;
}

/* The kernel has no mailbox; its manual makes one of a queue of one item. */
static inline bool port_mailbox_create(port_mailbox_t *mailbox)
{
    *mailbox = xQueueCreate(1, sizeof(void *));
    return *mailbox != NULL;
}

static inline bool port_mailbox_send(port_mailbox_t *mailbox, void *message)
{
    return xQueueSend(*mailbox, &message, portMAX_DELAY) == pdTRUE;
}

static inline bool port_mailbox_receive(port_mailbox_t *mailbox, void **message)
{
    return xQueueReceive(*mailbox, message, portMAX_DELAY) == pdTRUE;
}

static inline bool port_mailbox_receive_for(port_mailbox_t *mailbox, void **message, uint32_t ticks)
{
    return xQueueReceive(*mailbox, message, ticks) == pdTRUE;
}

static inline bool port_event_create(port_event_t *event)
{
    *event = xEventGroupCreate();
    return *event != NULL;
}

static inline void port_event_set(port_event_t *event, uint32_t bits)
{
    (void)xEventGroupSetBits(*event, bits);
}

static inline void port_event_clear(port_event_t *event, uint32_t bits)
{
    (void)xEventGroupClearBits(*event, bits);
}

static inline uint32_t port_event_wait_any(port_event_t *event, uint32_t bits)
{
    return xEventGroupWaitBits(*event, bits, pdTRUE, pdFALSE, portMAX_DELAY);
}

static inline bool port_event_wait_any_for(port_event_t *event, uint32_t bits, uint32_t ticks)
{
    return (xEventGroupWaitBits(*event, bits, pdTRUE, pdFALSE, ticks) & bits) != 0;
}

static inline uint32_t port_event_wait_all(port_event_t *event, uint32_t bits)
{
    return xEventGroupWaitBits(*event, bits, pdTRUE, pdTRUE, portMAX_DELAY);
}

#if BENCH_NEEDS_EVENT_FROM_ISR
/* A handler cannot set bits: it tells the timer task to, which is why this service costs a task. */
static inline void port_event_set_from_isr(port_event_t *event, uint32_t bits)
{
    BaseType_t woken = pdFALSE;

    (void)xEventGroupSetBitsFromISR(*event, bits, &woken);
    portYIELD_FROM_ISR(woken);
}
#endif

static inline void *port_malloc(size_t bytes)
{
    return pvPortMalloc(bytes);
}

static inline void port_free(void *block)
{
    vPortFree(block);
}
