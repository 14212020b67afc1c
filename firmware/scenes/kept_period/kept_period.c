/* The healthy twin of missed_period: the control task is more urgent than the one that computes for long. */
#define SCENE_HEALTHY
#include "../missed_period/missed_period.c"
