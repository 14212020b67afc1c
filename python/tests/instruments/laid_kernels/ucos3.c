#include "laid.h"

typedef struct os_tcb {
    word *StkPtr; void *ExtPtr; char *NamePtr; struct os_tcb *DbgPrevPtr, *DbgNextPtr; uint8_t Prio; word *StkBasePtr; word StkSize;
} OS_TCB;
word stack[64] = {[2] = 0x44, 0x45, 0x46, 0x47, HIGH, 0xFFFFFFED, FLOATS16(0x200), CORE_FRAME, FLOATS16(0x300), 0x700}, spoilt[40];
extern OS_TCB alpha, beta, gamma;
OS_TCB alpha = {.NamePtr = "alpha", .Prio = 3, .DbgNextPtr = &beta};
OS_TCB beta = {.NamePtr = "beta", .Prio = 4, .DbgNextPtr = &gamma, .StkPtr = stack + 2, .StkBasePtr = stack, .StkSize = 64};
OS_TCB gamma = {.NamePtr = "gamma", .StkPtr = spoilt};
OS_TCB *OSTCBCurPtr = &alpha, *OSTaskDbgListPtr = &alpha;
FUNCTION(OSTimeGet) FUNCTION(CPU_SR_Save) FUNCTION(OS_IdleTask)
#define BETA beta
#define GAMMA gamma

END
