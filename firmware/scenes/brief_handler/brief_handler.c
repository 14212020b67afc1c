/* The healthy twin of long_handler and of endless_handler: the handler does little, and ends. */
#define SCENE_HEALTHY
#include "../long_handler/long_handler.c"
