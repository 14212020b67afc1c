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

/* notes.c: says that a scene begins, so that the host knows which one is on when nothing more comes; false if it was asked
 * to be left out. */
bool scene_begins(const char *scene, unsigned core);

/* What the scene on stage has seen so far. From any context of the core it plays on. */
void note(uint32_t value);
void notes_send(const char *scene, unsigned core);

/* Runs before the handler returns; set it before pending the interrupt. */
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

/* Returns right behind the n-th tick from now. */
void pass_ticks(uint32_t ticks);

/* From here on the software interrupt's handler does this. */
void arm_interrupt(void (*act)(void));

/* The words that messages point at, and a message for the number noted. */
#define MESSAGES 4u
void *message(uint32_t number);
uint32_t message_number(void *received);
