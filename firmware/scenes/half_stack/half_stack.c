/* The healthy twin of full_stack: the task calls itself less often. */
#define SCENE_HEALTHY
#include "../full_stack/full_stack.c"
