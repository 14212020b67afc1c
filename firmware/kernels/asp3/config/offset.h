/* Where ASP3's assembler files find members of its structures. port.c checks each at compile time. */
#ifndef TOPPERS_OFFSET_H
#define TOPPERS_OFFSET_H

#define TCB_p_tinib 8
#define TCB_sp 24
#define TCB_pc 28
#define TCB_stk_top 32
#if defined(TOPPERS_FPU_CONTEXT)
#define TCB_fpu_flag 36
#else
#define TCB_fpu_flag 32
#endif
#define TINIB_exinf 4
#define TINIB_task 8
#define TINIB_stk_bottom 20

#endif
