#include "laid.h"

typedef struct os_tcb {
    word *OSTCBStkPtr; void *OSTCBExtPtr; word *OSTCBStkBottom; word OSTCBStkSize; struct os_tcb *OSTCBNext, *OSTCBPrev;
    uint8_t OSTCBPrio; uint8_t *OSTCBTaskName;
} OS_TCB;
word stack[80] = {[2] = FLOATS16(0x300), FLOATS16(0x200), 0x700, LOW, HIGH, 0xFFFFFFFD, CORE_FRAME}, spoilt[40];
extern OS_TCB alpha, beta, gamma;
OS_TCB alpha = {.OSTCBTaskName = (uint8_t *)"alpha", .OSTCBPrio = 3, .OSTCBNext = &beta};
OS_TCB beta = {.OSTCBTaskName = (uint8_t *)"beta", .OSTCBPrio = 4, .OSTCBNext = &gamma, .OSTCBStkPtr = stack + 2,
    .OSTCBStkBottom = stack, .OSTCBStkSize = 80};
OS_TCB gamma = {.OSTCBTaskName = (uint8_t *)"gamma", .OSTCBStkPtr = spoilt};
OS_TCB *OSTCBCur = &alpha, *OSTCBList = &alpha;
FUNCTION(OSTimeGet) FUNCTION(OS_CPU_SR_Save) FUNCTION(OSIntEnter)
#define BETA beta
#define GAMMA gamma

END
