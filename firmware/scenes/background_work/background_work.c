/* The healthy twin of starvation: the urgent task sleeps between its polls, so the background computes on. */
#define SCENE_HEALTHY
#include "../starvation/starvation.c"
