/* FreeRTOS behind the port contract: what is never measured, and the kernel's hooks. */
#include "bench/port.h"
#include "bench_core.h"

/* Creates a task before the kernel starts, pinned to a core unless it may run on any. Returns false if it fails. */
bool port_task_create(port_task_t *task, const struct port_task_request *request)
{
    UBaseType_t priority = PORT_PRIORITY(request->priority);
    configSTACK_DEPTH_TYPE depth = (configSTACK_DEPTH_TYPE)(request->stack_bytes / sizeof(StackType_t));

#if BENCH_ANY_CORE
    return xTaskCreateAffinitySet(request->entry, request->name, depth, request->argument, priority,
                                  request->core == PORT_ANY_CORE ? tskNO_AFFINITY : (UBaseType_t)1u << request->core,
                                  task) == pdPASS;
#elif configNUMBER_OF_CORES > 1
    return xTaskCreateAffinitySet(request->entry, request->name, depth, request->argument, priority,
                                  (UBaseType_t)1u << request->core, task) == pdPASS;
#else
    return request->core == 0 &&
           xTaskCreate(request->entry, request->name, depth, request->argument, priority, task) == pdPASS;
#endif
}

/* Starts the kernel on every configured core. Does not return. */
void port_start(void)
{
    vTaskStartScheduler();
}

#if KERNEL_SERVICES_HEAP_PEAK
/* Returns the heap's size, its peak and the number of allocations. */
void port_heap_figures(struct port_heap_figures *figures)
{
    HeapStats_t stats;

    vPortGetHeapStats(&stats);
    figures->size_bytes = configTOTAL_HEAP_SIZE;
    figures->peak_bytes = configTOTAL_HEAP_SIZE - stats.xMinimumEverFreeBytesRemaining;
    figures->allocations = stats.xNumberOfSuccessfulAllocations;
}
#endif

#if KERNEL_SERVICES_HEAP_PIECES
/* Returns the free bytes of the heap, their number of pieces and the largest piece. */
void port_heap_free(struct port_heap_free *figures)
{
    HeapStats_t stats;

    vPortGetHeapStats(&stats);
    figures->bytes = stats.xAvailableHeapSpaceInBytes;
    figures->largest_bytes = stats.xSizeOfLargestFreeBlockInBytes;
    figures->pieces = stats.xNumberOfFreeBlocks;
}
#endif

#if configBENCH_ASSERT
/* Reports a failed configASSERT, and ends the run. */
void port_assert_failed(const char *file, int line)
{
    last_words_assert(file, (uint32_t)line);
}
#endif

/* Versions before V10.5.0 declare their hooks in no header. */
void vApplicationMallocFailedHook(void);
/* Reports that the kernel's heap is used up, and ends the run. */
void vApplicationMallocFailedHook(void)
{
    last_words_error(ERROR_NO_MEMORY, "the kernel's heap is used up");
}

#if BENCH_NEEDS_HOOKS
/* A benchmark that measures these hooks defines them. In any other image the kernel calls the empty ones below. */
#pragma weak port_hook_tick_begin
#pragma weak port_hook_tick_end
#pragma weak port_hook_choice_begin
#pragma weak port_hook_choice_end

/* Does nothing at the begin of the tick handler, unless a benchmark defines it. */
void port_hook_tick_begin(void)
{
}

/* Does nothing at the end of the tick handler, unless a benchmark defines it. */
void port_hook_tick_end(void)
{
}

/* Does nothing before the kernel chooses the next task, unless a benchmark defines it. */
void port_hook_choice_begin(void)
{
}

/* Does nothing after the kernel has chosen the next task, unless a benchmark defines it. */
void port_hook_choice_end(void)
{
}
#endif

#if configCHECK_FOR_STACK_OVERFLOW
void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
/* Reports a stack overflow that the kernel has found, and ends the run. */
void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    last_words_overflow(name);
}
#endif
