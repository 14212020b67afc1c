/* The healthy twin of full_queue: the queue has room for a whole burst, and is empty before the next. */
#define SCENE_HEALTHY
#include "../full_queue/full_queue.c"
