/* Where FMP3's files find members of its structures. port.c checks each at compile time. */
#ifndef TOPPERS_OFFSET_H
#define TOPPERS_OFFSET_H

#define TCB_p_tinib 8
#define TCB_sp 24
#define TCB_pc 28
#define TINIB_exinf 4
#define TINIB_task 8
#define PCB_target_pcb 0
#define PCB_lock_flag 0
#define PCB_current_iipm_enable_mask 4
#define PCB_iipm_enable_masks 8
#define PCB_idstkpt 28
#define PCB_idstktop 32
#define PCB_p_runtsk 40
#define PCB_p_schedtsk 44

#endif
