/* The healthy twin of deadlock: both tasks take the two mutexes in the same order.
 *
 *   1  left locks A, sleeps a tick
 *   2  right wants A, waits
 *   3  left locks B, works, gives both back; right goes on */
#define SCENE_HEALTHY
#include "../deadlock/deadlock.c"
