/* The conformance suite: scenes that put a kernel port through what the port contract promises, and note what happened
 * in which order. The host knows what should have happened (conformance.toml) and judges; nothing is judged here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_config.h"
#include "bench/board.h"
#include "bench/port.h"
#include "bench_core.h"

/* The optional services that this image contains. The host chooses them: the smallest board has no room for all. */
#if KERNEL_SERVICES_AFFINITY && __has_include(<port_affinity.h>)
#define SUITE_HAS_AFFINITY 1
#else
#define SUITE_HAS_AFFINITY 0
#endif
#if KERNEL_SERVICES_BINARY_SEMAPHORE && __has_include(<port_binary_semaphore.h>)
#define SUITE_HAS_BINARY_SEMAPHORE 1
#else
#define SUITE_HAS_BINARY_SEMAPHORE 0
#endif
#if KERNEL_SERVICES_CONDITION_BROADCAST && __has_include(<port_condition_broadcast.h>)
#define SUITE_HAS_CONDITION_BROADCAST 1
#else
#define SUITE_HAS_CONDITION_BROADCAST 0
#endif
#if KERNEL_SERVICES_RWLOCK && __has_include(<port_rwlock.h>)
#define SUITE_HAS_RWLOCK 1
#else
#define SUITE_HAS_RWLOCK 0
#endif
#if KERNEL_SERVICES_SIGNAL && __has_include(<port_signal.h>)
#define SUITE_HAS_SIGNAL 1
#else
#define SUITE_HAS_SIGNAL 0
#endif
#if KERNEL_SERVICES_TASK_EVENTS && __has_include(<port_task_events.h>)
#define SUITE_HAS_TASK_EVENTS 1
#else
#define SUITE_HAS_TASK_EVENTS 0
#endif
#if KERNEL_SERVICES_TASK_JOIN && __has_include(<port_task_join.h>)
#define SUITE_HAS_TASK_JOIN 1
#else
#define SUITE_HAS_TASK_JOIN 0
#endif
#if KERNEL_SERVICES_TIMER && __has_include(<port_timer.h>)
#define SUITE_HAS_TIMER 1
#else
#define SUITE_HAS_TIMER 0
#endif
#if KERNEL_SERVICES_WORK && __has_include(<port_work.h>)
#define SUITE_HAS_WORK 1
#else
#define SUITE_HAS_WORK 0
#endif

/* Sends that a scene begins, so that the host knows which scene runs if nothing more comes. Returns false if the host
 * asked to leave the scene out. Defined in notes.c, as the next two functions. */
bool scene_begins(const char *scene, unsigned core);

/* Appends a value to what the current scene has seen so far. May be called in any context of the core
 * on which the scene plays. */
void note(uint32_t value);
void notes_send(const char *scene, unsigned core);

/* The function that the software interrupt's handler calls. It is set before the interrupt is pended. */
extern void (*volatile on_interrupt)(void);

/* 1 while the virtual board counts ticks against cycles. */
extern volatile uint32_t bench_window_state;

/* objects.c: made once, used by every scene, left as they were found: empty, `counting` with one of three. */
#if KERNEL_SERVICES_SEMAPHORE
extern port_semaphore_t semaphores[3], counting;
#endif
#if KERNEL_SERVICES_MUTEX
extern port_mutex_t mutex;
#endif
#if KERNEL_SERVICES_CONDITION
extern port_condition_t condition;
#endif
#define QUEUE_LENGTH 4u
#if KERNEL_SERVICES_QUEUE
extern port_queue_t queue;
#endif
#if KERNEL_SERVICES_MAILBOX
extern port_mailbox_t mailbox;
#endif
#if KERNEL_SERVICES_QUEUE_POINTER
extern port_pointer_queue_t pointer_queue;
#endif
#if KERNEL_SERVICES_POOL
#define POOL_BLOCKS 3u
#define POOL_BLOCK_BYTES 24u
extern port_pool_t pool;
#endif
#if KERNEL_SERVICES_EVENT
extern port_event_t event;
#endif
void objects_make(void);

/* solo.c, solo_messages.c, solo_memory.c, solo_timers.c, solo_work.c: scenes for one flow of control, with a kernel (in a task) or without (in main). */
struct solo {
    const char *name;
    void (*play)(void);
    bool first_core_only;
};

extern const struct solo solos[], message_solos[], memory_solos[], timer_solos[], work_solos[];
extern const size_t solo_count, message_solo_count, memory_solo_count, timer_solo_count, work_solo_count;

/* Waits, and returns just after the n-th tick from now. */
void pass_ticks(uint32_t ticks);

/* Sets what the software interrupt's handler does from now on, and enables the interrupt. */
void arm_interrupt(void (*act)(void));

/* A message is a pointer to a word. `message` returns the one with a number, and `message_number` the number of one. */
#define MESSAGES 4u
void *message(uint32_t number);
uint32_t message_number(void *received);
