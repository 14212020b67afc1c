/* The port for ARMv6-M names its handlers as the others do. */
#pragma once

#define vPortSVCHandler isr_svcall
#define xPortPendSVHandler isr_pendsv
#define xPortSysTickHandler isr_systick
