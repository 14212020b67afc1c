/*
 * What the system side of an ARMv7-M core does, written down word by word: every case records what its handlers see,
 * and in the end all words go out through the serial port at 0x40004000 as lines of hexadecimal digits. The same image
 * runs on the model's core and on QEMU (mps2-an385, -an386, -an500); the lines must be equal. Left out is what QEMU does
 * otherwise than silicon: instruction fetches from where nothing is, BKPT without a debugger.
 */
        .syntax unified
        .thumb
        .set    CURSOR, 0x20000000      /* where the next word is recorded */
        .set    RECOVER, 0x20000004     /* where a faulting case goes on */
        .set    FIX_LR, 0x20000008      /* EXC_RETURN to leave the fault handler with, or 0 */
        .set    FIX_PSP, 0x2000000c     /* process stack to go on with, or 0 */
        .set    INNER, 0x20000010       /* what interrupt 1 calls, or 0 */
        .set    CURRENT, 0x20000014     /* the running task's control block */
        .set    TASKS, 0x20000020       /* control blocks: saved stack pointers */
        .set    RESULTS, 0x20001000
        .set    MAIN_STACK, 0x20008000
        .set    USER_STACK, 0x2000a000
        .set    SCB, 0xe000ed00
        .set    NVIC, 0xe000e100

        .macro  record register
        push    {r4, r5}
        ldr     r4, =CURSOR
        ldr     r5, [r4]
        str     \register, [r5], #4
        str     r5, [r4]
        pop     {r4, r5}
        .endm

        .macro  put address, value
        ldr     r0, =\address
        ldr     r1, =\value
        str     r1, [r0]
        .endm

        /* Pends interrupts, taken exactly when the mask goes. */
        .macro  interrupt lines
        cpsid   i
        put     NVIC + 0x100, \lines
        dsb
        cpsie   i
        isb
        .endm

        /* A case: its number is recorded, and where to go on after its fault is noted. */
        .macro  case number, next
        ldr     r0, =0xca5e0000 + \number
        record  r0
        put     RECOVER, \next
        .endm

#ifndef FLOAT
        .set    float_handler, seen
#endif
        .section .text
        .global _start
_start:
vectors:
        .word   MAIN_STACK, start + 1
        .word   fault + 1, fault + 1, fault + 1, fault + 1, fault + 1
        .word   0, 0, 0, 0
        .word   svc_handler + 1, fault + 1, 0, pendsv_handler + 1, seen + 1
        .word   interrupt_0 + 1, interrupt_1 + 1, seen + 1, seen + 1, float_handler + 1, seen + 1, seen + 1, seen + 1
        .space  0x200 - (. - vectors)

/* Records exception, EXC_RETURN, status, masks and frame; goes on at RECOVER. */
        .thumb_func
fault:
        mrs     r0, ipsr
        record  r0
        mov     r0, lr
        record  r0
        tst     lr, #4
        ite     eq
        mrseq   r3, msp
        mrsne   r3, psp
        ldr     r2, =SCB
        ldr     r1, [r2, #0x28]
        record  r1
        ldr     r0, [r2, #0x2c]
        record  r0
        tst     r1, #0x80
        ite     ne
        ldrne   r0, [r2, #0x34]
        moveq   r0, #0
        record  r0
        tst     r1, #0x8000
        ite     ne
        ldrne   r0, [r2, #0x38]
        moveq   r0, #0
        record  r0
        ldr     r0, [r2, #0x24]
        record  r0
        ldr     r0, [r2, #0x04]
        record  r0
        mrs     r0, primask
        record  r0
        mrs     r0, basepri
        record  r0
        mrs     r0, faultmask
        record  r0
        mrs     r0, control
        record  r0
        record  r3
        mvn     r0, #0
        str     r0, [r2, #0x28]
        str     r0, [r2, #0x2c]
        ldr     r0, =FIX_PSP
        ldr     r1, [r0]
        cbz     r1, 1f
        movs    r3, #0
        str     r3, [r0]
        mov     r3, r1
        msr     psp, r3
        ldr     r0, =0x01000000
        str     r0, [r3, #0x1c]
        b       2f
1:      ldr     r0, [r3, #0x18]
        record  r0
        ldr     r0, [r3, #0x1c]
        record  r0
2:      ldr     r0, =RECOVER
        ldr     r0, [r0]
        str     r0, [r3, #0x18]
        ldr     r0, [r3, #0x1c]
        tst     lr, #8                  /* the exception number of handler mode only */
        ite     eq
        ldreq   r1, =0x3ff
        ldrne   r1, =0x200
        and     r0, r1
        orr     r0, #0x01000000
        str     r0, [r3, #0x1c]
        ldr     r0, =FIX_LR
        ldr     r1, [r0]
        cbz     r1, 3f
        mov     lr, r1
        movs    r1, #0
        str     r1, [r0]
3:      bx      lr

/* Records that it ran: exception, EXC_RETURN, ICSR. */
        .thumb_func
seen:
        mrs     r0, ipsr
        record  r0
        mov     r0, lr
        record  r0
        ldr     r2, =SCB
        ldr     r0, [r2, #0x04]
        record  r0
        bx      lr

/* SVC 0: as seen. SVC 1: thread mode becomes privileged. SVC 2: the first task starts. */
        .thumb_func
svc_handler:
        tst     lr, #4
        ite     eq
        mrseq   r3, msp
        mrsne   r3, psp
        ldr     r2, [r3, #0x18]
        ldrb    r2, [r2, #-2]
        cmp     r2, #1
        bhi     start_task
        bne     seen
        mrs     r0, control
        bic     r0, #1
        msr     control, r0
        isb
        bx      lr

/* Interrupt 0: calls the simple cases; interrupt 1: calls what INNER says. */
        .thumb_func
interrupt_0:
        push    {r4, lr}
        bl      simple_cases
        pop     {r4, pc}
        .thumb_func
interrupt_1:
        push    {r4, lr}
        mov     r0, lr
        record  r0
        ldr     r0, =INNER
        ldr     r0, [r0]
        cbz     r0, 1f
        blx     r0
1:      pop     {r4, pc}
        .ltorg

start:
        put     CURSOR, RESULTS
        put     FIX_LR, 0
        put     FIX_PSP, 0
        put     INNER, 0
        ldr     r0, =USER_STACK
        msr     psp, r0
        /* Traps of division by zero and of unaligned accesses. */
        put     SCB + 0x14, 0x218
        bl      registers
        /* 1: all configurable faults disabled. */
        movs    r0, #1
        bl      configuration
        bl      simple_cases
        /* 2: enabled. */
        movs    r0, #2
        bl      configuration
        put     SCB + 0x24, 0x70000
        bl      simple_cases
        /* 3: under PRIMASK. */
        movs    r0, #3
        bl      configuration
        cpsid   i
        bl      simple_cases
        cpsie   i
        /* 4: under BASEPRI, UsageFault and SVCall masked, BusFault and MemManage not. */
        movs    r0, #4
        bl      configuration
        put     SCB + 0x18, 0x00604020
        put     SCB + 0x1c, 0x60000000
        movs    r0, #0x50
        msr     basepri, r0
        bl      simple_cases
        movs    r0, #0
        msr     basepri, r0
        /* 5: in an interrupt of priority 0x40. */
        movs    r0, #5
        bl      configuration
        put     NVIC + 0x300, 0x00004040
        put     NVIC, 0xff
        interrupt 1
        /* 6: the same with all in one group. */
        movs    r0, #6
        bl      configuration
        put     SCB + 0x0c, 0x05fa0700
        interrupt 1
        put     SCB + 0x0c, 0x05fa0000
        /* 7: unprivileged, on the process stack. */
        movs    r0, #7
        bl      configuration
        mov     r0, #3
        msr     control, r0
        isb
        bl      simple_cases
        svc     1
        mov     r0, #0
        msr     control, r0
        isb
        bl      nesting
        bl      returns
        bl      stacks
        bl      protection
        bl      masks
#ifdef FLOAT
        bl      floats
        bl      tasks
#endif
        b       finish

configuration:
        ldr     r1, =0xc0f10000
        orr     r0, r1
        record  r0
        bx      lr
        .ltorg

/* Identification and writable bits. */
registers:
        ldr     r2, =SCB
        mvn     r3, #0
        .irp    offset, 0x18, 0x1c, 0x20
        str     r3, [r2, #\offset]
        ldr     r0, [r2, #\offset]
        record  r0
        movs    r0, #0
        str     r0, [r2, #\offset]
        .endr
        ldr     r0, [r2, #0x0c]
        record  r0
        ldr     r0, [r2, #0x90]
        record  r0
        ldr     r0, =NVIC + 0x300
        movs    r1, #0xff
        strb    r1, [r0, #5]
        ldr     r1, [r0, #4]
        record  r1
        movs    r1, #0
        str     r1, [r0, #4]
        bx      lr
        .ltorg

/* One fault each. r4 is kept. */
        .thumb_func
simple_cases:
        push    {r4, lr}
        case    1, 1f
        udf     #0
1:      case    2, 2f
        udf.w   #0
2:      case    3, 3f
        movs    r2, #0
        movs    r3, #5
        udiv    r3, r3, r2
3:      case    4, 4f
        ldr     r2, =0x20000101
        ldr     r3, [r2]
4:      case    5, 5f
        ldr     r2, =0x20000102
        str     r3, [r2]
5:      case    6, 6f
        ldr     r2, =0x20000102
        ldrd    r0, r1, [r2]
6:      case    7, 7f
        ldr     r2, =0x20000102
        ldm     r2, {r0, r1}
7:      case    8, 8f
        ldr     r2, =0x20000102
        ldrex   r0, [r2]
8:      case    9, 9f
        ldr     r2, =0x90000000
        ldr     r3, [r2]
9:      case    10, 10f
        ldr     r2, =0x90000010
        str     r3, [r2]
10:     case    11, 11f
        ldr     r2, =0x40000001
        bx      r2
11:     case    13, 13f
        ldr     r2, =14f
        bx      r2
14:     nop
13:     case    14, 15f
        mcr     p3, 0, r0, c1, c2, 3
15:     case    15, 16f
        svc     0
16:     case    16, 18f
        movs    r2, #0
        cmp     r2, r2
        itt     eq
        moveq   r3, #1
        udfeq   #1
18:     pop     {r4, pc}
        .ltorg

/* Interrupt 2 of priority 0x20 inside 1 of 0x40, PendSV behind both, tail-chains, priorities among equals. */
nesting:
        push    {r4, lr}
        movs    r0, #8
        bl      configuration
        put     NVIC + 0x300, 0x40204040
        put     SCB + 0x20, 0xe0f00000
        put     INNER, nesting_inner + 1
        interrupt 2
        /* Equal priorities: the lower number first; subpriorities decide inside a group. */
        put     INNER, 0
        interrupt 0x2e
        put     SCB + 0x0c, 0x05fa0600
        put     NVIC + 0x300, 0x10304040
        put     NVIC + 0x304, 0x00002000
        interrupt 0x2c
        put     SCB + 0x0c, 0x05fa0000
        pop     {r4, pc}
        .thumb_func
nesting_inner:
        push    {r4, lr}
        ldr     r0, =SCB
        ldr     r1, =0x10000000
        str     r1, [r0, #4]            /* PendSV */
        put     NVIC + 0x100, 0x0c      /* 2 at once, 3 later */
        dsb
        isb
        ldr     r0, =SCB
        ldr     r0, [r0, #4]
        record  r0
        ldr     r0, =NVIC + 0x200
        ldr     r0, [r0]
        record  r0
        pop     {r4, pc}
        .ltorg

/* Returns that must fail. Each comes from interrupt 1 in thread mode with a frame on the main stack. */
        .macro  bad_return number, value
        case    \number, 1f
        put     INNER, return_bad + 1
        put     FIX_LR, 0xfffffff9
        ldr     r6, =\value
        interrupt 2
1:
        .endm
returns:
        push    {r4, r5, r6, lr}
        movs    r0, #9
        bl      configuration
        bad_return 20, 0xfffffff0
        bad_return 21, 0xfffffff3
        bad_return 22, 0xfffffff5
        bad_return 23, 0xfffffffb
        /* The stacked exception number does not suit: thread mode with a number, handler mode without. */
        case    24, 2f
        put     INNER, return_number + 1
        put     FIX_LR, 0xfffffff9
        interrupt 2
2:      put     INNER, 0
        pop     {r4, r5, r6, pc}
        .thumb_func
return_bad:
        add     sp, #8                  /* what interrupt_1 pushed */
        bx      r6
        .thumb_func
return_number:
        add     sp, #8
        ldr     r0, [sp, #0x1c]
        orr     r0, #17
        str     r0, [sp, #0x1c]
        ldr     r0, =0xfffffff9
        bx      r0
        .ltorg

/* Stacks that cannot be written or read. */
stacks:
        push    {r4, lr}
        movs    r0, #10
        bl      configuration
        /* Stacking on a process stack where nothing is: BusFault enabled. */
        case    30, 1f
        put     FIX_PSP, USER_STACK - 0x100
        ldr     r0, =0x90001000
        msr     psp, r0
        mov     r0, #2
        msr     control, r0
        isb
        svc     0
1:      mov     r0, #0
        msr     control, r0
        isb
        /* The same with BusFault disabled: HardFault. */
        put     SCB + 0x24, 0x50000
        case    31, 2f
        put     FIX_PSP, USER_STACK - 0x100
        ldr     r0, =0x90001000
        msr     psp, r0
        mov     r0, #2
        msr     control, r0
        isb
        svc     0
2:      mov     r0, #0
        msr     control, r0
        isb
        put     SCB + 0x24, 0x70000
        /* SVCall is left pending where the derived fault came first: it has run by now. */
        ldr     r0, =SCB
        ldr     r0, [r0, #0x24]
        record  r0
        /* Unstacking from there. */
        case    32, 3f
        put     FIX_PSP, USER_STACK - 0x100
        put     INNER, return_nowhere + 1
        interrupt 2
3:      mov     r0, #0
        msr     control, r0
        isb
        put     INNER, 0
        add     sp, #0x20               /* the frame that was left */
        /* Odd stack pointers: the padding word. */
        case    33, 4f
        sub     sp, #4
        udf     #0
4:      mov     r0, sp
        record  r0
        add     sp, #4
        case    34, 5f
        udf     #0
5:      mov     r0, sp
        record  r0
        pop     {r4, pc}
        .thumb_func
return_nowhere:
        add     sp, #8
        ldr     r0, =0x90001000
        msr     psp, r0
        ldr     r0, =0xfffffffd
        bx      r0
        .ltorg

/* The memory protection unit. */
        .macro  region number, base, attributes
        put     SCB + 0x9c, \base + 0x10 + \number
        put     SCB + 0xa0, \attributes
        .endm
        .macro  as_user
        mov     r0, #3
        msr     control, r0
        isb
        .endm
        .macro  as_system
        svc     1
        mov     r0, #0
        msr     control, r0
        isb
        .endm
protection:
        push    {r4, lr}
        movs    r0, #11
        bl      configuration
        region  0, 0x00000000, 0x06000000 + (19 << 1) + 1       /* code: read only */
        region  1, 0x20000000, 0x13000000 + (16 << 1) + 1       /* data: all, no execution */
        region  2, 0x20004000, 0x11000000 + (11 << 1) + 1       /* privileged only */
        region  3, 0x20005000, 0x13000000 + (11 << 1) + 1 + 0x8100      /* first and last eighth off … */
        region  4, 0x20006000, 0x10000000 + (11 << 1) + 1       /* nobody */
        region  5, 0x20005000, 0x15000000 + (4 << 1) + 1        /* 32 bytes privileged read only, but 3 … */
        ldr     r0, =SCB
        ldr     r1, [r0, #0x94]
        record  r1
        put     SCB + 0x94, 5
        dsb
        isb
        .irp    address, 0x20004000, 0x20004ffc, 0x20005000, 0x20005100, 0x20005e00, 0x20006010
        case    40, 1f
        ldr     r2, =\address
        ldr     r3, [r2]
        record  r2
1:      case    41, 2f
        ldr     r2, =\address
        str     r3, [r2]
        record  r2
2:      as_user
        case    42, 3f
        ldr     r2, =\address
        ldr     r3, [r2]
        record  r2
3:      case    43, 4f
        ldr     r2, =\address
        str     r3, [r2]
        record  r2
4:      as_system
        case    44, 5f
        ldr     r2, =\address
        ldrt    r3, [r2]
        record  r2
5:
        .endr
        b       6f
        .ltorg
6:      case    45, 7f
        ldr     r2, =0x00000100
        str     r2, [r2]
7:      case    46, 8f
        ldr     r2, =0x20000201
        bx      r2
8:      as_user
        case    47, 9f
        ldr     r2, =SCB
        ldr     r3, [r2]
9:      case    48, 10f
        ldr     r2, =0x40004000
        ldr     r3, [r2]
10:     as_system
        /* Stacking where unprivileged code may not write. */
        case    49, 11f
        put     FIX_PSP, USER_STACK - 0x100
        ldr     r0, =0x20004800
        msr     psp, r0
        mov     r0, #3
        msr     control, r0
        isb
        svc     0
11:     as_system
        ldr     r0, =USER_STACK
        msr     psp, r0
        /* Without the background, and then with HardFault bypassing or not. */
        region  6, 0xe0000000, 0
        region  6, 0x40000000, 0
        put     SCB + 0x94, 1
        isb
        case    50, 12f
        ldr     r2, =0x40004000
        ldr     r3, [r2]
12:     cpsid   f
        case    51, 13f
        ldr     r2, =0x20006010
        ldr     r3, [r2]
        record  r2
13:     cpsie   f
        put     SCB + 0x94, 0
        isb
        pop     {r4, pc}
        .ltorg

/* BASEPRI_MAX, FAULTMASK, what unprivileged code cannot do. */
masks:
        push    {r4, lr}
        movs    r0, #12
        bl      configuration
        .irp    value, 0x80, 0x90, 0x4f, 0, 0x0f, 0xff
        movs    r0, #\value
        msr     basepri_max, r0
        mrs     r0, basepri
        record  r0
        .endr
        movs    r0, #0
        msr     basepri, r0
        cpsid   f
        mrs     r0, faultmask
        record  r0
        cpsie   f
        mrs     r0, faultmask
        record  r0
        as_user
        cpsid   i
        cpsid   f
        mov     r0, #0x40
        msr     basepri, r0
        msr     primask, r0
        mov     r0, #0
        msr     control, r0
        mrs     r0, primask
        record  r0
        mrs     r0, control
        record  r0
        mrs     r0, msp
        record  r0
        as_system
        mrs     r0, primask
        record  r0
        mrs     r0, basepri
        record  r0
        /* STIR, and what ICSR and SHCSR show. */
        put     NVIC + 0x300, 0x80808080
        put     0xe000ef00, 2
        dsb
        isb
        ldr     r0, =SCB
        ldr     r1, [r0, #0x24]
        record  r1
        /* PendSV and SysTick pended and cleared under PRIMASK. */
        cpsid   i
        ldr     r0, =SCB
        ldr     r1, =0x14000000
        str     r1, [r0, #4]
        ldr     r1, [r0, #4]
        record  r1
        ldr     r1, =0x0a000000
        str     r1, [r0, #4]
        ldr     r1, [r0, #4]
        record  r1
        cpsie   i
        pop     {r4, pc}
        .ltorg

        .thumb_func
pendsv_handler:
        ldr     r0, =CURRENT
        ldr     r0, [r0]
        cmp     r0, #0
        beq     seen
#ifdef FLOAT
        /* A context switch: callee-saved registers and EXC_RETURN under the frame, the upper half if it is in use. */
        mrs     r0, psp
        isb
        ldr     r3, =CURRENT
        ldr     r2, [r3]
        tst     lr, #0x10
        it      eq
        vstmdbeq r0!, {s16-s31}
        stmdb   r0!, {r4-r11, lr}
        str     r0, [r2]
        eor     r2, #4
        str     r2, [r3]
        ldr     r0, [r2]
        ldmia   r0!, {r4-r11, lr}
        tst     lr, #0x10
        it      eq
        vldmiaeq r0!, {s16-s31}
        msr     psp, r0
        isb
        bx      lr
        .thumb_func
start_task:
        ldr     r3, =CURRENT
        ldr     r2, [r3]
        ldr     r0, [r2]
        ldmia   r0!, {r4-r11, lr}
        msr     psp, r0
        isb
        bx      lr
        .ltorg

        /* FPCCR without bit 10, which QEMU sets although ARMv7-M has none there. */
        .macro  show_fpccr
        ldr     r0, [r2]
        bic     r0, #0x400
        record  r0
        .endm

/* Interrupt 4: uses floating point in a handler. */
        .thumb_func
float_handler:
        mov     r0, lr
        record  r0
        ldr     r2, =0xe000ef34
        show_fpccr
        ldr     r0, [r2, #4]
        record  r0
        mov     r3, sp
        vmov.f32 s0, #2.0
        vmov.f32 s15, #3.0
        show_fpccr
        vmrs    r0, fpscr
        record  r0
        ldr     r0, [r3, #0x20]
        record  r0
        ldr     r0, [r3, #0x5c]
        record  r0
        ldr     r0, [r3, #0x60]
        record  r0
        mrs     r0, control
        record  r0
        bx      lr
        .ltorg

        .macro  show_floats
        vmov    r0, s0
        record  r0
        vmov    r0, s15
        record  r0
        vmov    r0, s31
        record  r0
        vmrs    r0, fpscr
        record  r0
        mrs     r0, control
        record  r0
        ldr     r2, =0xe000ef34
        show_fpccr
        .endm

floats:
        push    {r4, lr}
        movs    r0, #13
        bl      configuration
        /* No access. */
        case    60, 1f
        vmov.f32 s0, #1.0
1:      put     SCB + 0x88, 0x00500000
        dsb
        isb
        as_user
        case    61, 2f
        vmov.f32 s0, #1.0
2:      as_system
        put     SCB + 0x88, 0x00f00000
        dsb
        isb
        ldr     r2, =0xe000ef34
        show_fpccr
        /* FPDSCR gives a new context its modes. */
        put     0xe000ef3c, 0x01c00000
        vmov.f32 s0, #1.0
        vmov.f32 s15, #4.0
        vmov.f32 s31, #5.0
        show_floats
        put     NVIC + 0x304, 0x00000080
        /* Lazily. */
        interrupt 0x10
        show_floats
        /* A handler without floating point: nothing is saved. */
        interrupt 0x04
        show_floats
        /* At once. */
        put     0xe000ef34, 0x80000000
        interrupt 0x10
        show_floats
        put     0xe000ef34, 0xc0000000
        /* A fault with floating-point state in its frame. */
        case    62, 3f
        vmov.f32 s0, #1.0
        put     FIX_LR, 0
        udf     #0
3:      show_floats
        /* Lazy state that cannot be saved. */
        case    63, 4f
        mov     r0, #0
        msr     control, r0
        isb
        put     0xe000ef38, 0x90000000
        put     0xe000ef34, 0xc0000011
        dsb
        isb
        vmov.f32 s0, #6.0
4:      put     0xe000ef34, 0xc0000000
        mov     r0, #0
        msr     control, r0
        isb
        pop     {r4, pc}
        .ltorg

/* Two tasks that hand over to each other; A uses floating point, B too from its second turn on. */
        .macro  yield
        ldr     r0, =SCB
        ldr     r1, =0x10000000
        str     r1, [r0, #4]
        dsb
        isb
        .endm
        .macro  task_frame block, stack, entry
        put     \block, \stack - 0x44
        put     \stack - 0x24, 0xfffffffd
        put     \stack - 0x08, \entry
        put     \stack - 0x04, 0x01000000
        .endm
tasks:
        push    {r4, lr}
        movs    r0, #14
        bl      configuration
        put     0xe000ef3c, 0
        put     RECOVER, 0
        task_frame TASKS, 0x2000b000, task_a
        task_frame TASKS + 4, 0x2000c000, task_b
        put     CURRENT, TASKS
        svc     2
task_a:
        vmov.f32 s1, #1.0
        vsub.f32 s2, s1, s1
        vmov.f32 s20, s2
        mov     r6, #0xa6
        mov     r7, #0
1:      vadd.f32 s2, s2, s1
        vadd.f32 s20, s20, s2
        yield
        vmov    r0, s2
        record  r0
        vmov    r0, s20
        record  r0
        mrs     r0, control
        record  r0
        add     r7, #1
        cmp     r7, #4
        bne     1b
        record  r6
        mrs     r0, psp
        record  r0
        b       finish
task_b:
        mov     r6, #0xb6
1:      record  r6
        mrs     r0, control
        record  r0
        yield
        vmov.f32 s2, #7.0
        vmov.f32 s20, #8.0
        add     r6, #1
        b       1b
        .ltorg
#else
        b       seen
        .thumb_func
start_task:
        bx      lr
#endif

/* Sends everything recorded. */
finish:
        cpsid   i
        put     0x40004008, 1
        ldr     r4, =RESULTS
        ldr     r5, =CURSOR
        ldr     r5, [r5]
        ldr     r6, =0x40004000
1:      cmp     r4, r5
        bhs     4f
        ldr     r0, [r4], #4
        movs    r1, #8
2:      lsrs    r2, r0, #28
        cmp     r2, #10
        ite     lo
        addlo   r2, #'0'
        addhs   r2, #'a' - 10
        str     r2, [r6]
        lsls    r0, r0, #4
        subs    r1, #1
        bne     2b
        movs    r2, #'\n'
        str     r2, [r6]
        b       1b
4:      movs    r2, #'.'
        str     r2, [r6]
        movs    r2, #'\n'
        str     r2, [r6]
5:      wfi
        b       5b
        .ltorg
