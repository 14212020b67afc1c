/* The healthy twin of repeated_handler: the handler clears the flag first, and reads it back before it returns. */
#define SCENE_HEALTHY
#include "../repeated_handler/repeated_handler.c"
