/* An application that does nothing: what is made of it is the kernel, which each of rtoslab's images is then linked with.
 * It includes what rtoslab's port includes, so that the compiler tells which headers that is. */
#include <version.h>

#if __has_include(<zephyr/kernel.h>)
#include <zephyr/kernel.h>

#include <zephyr/fatal.h>
#include <zephyr/irq.h>
#include <zephyr/linker/sections.h>
#include <zephyr/sw_isr_table.h>
#elif __has_include(<fatal.h>)
#include <fatal.h>
#include <irq.h>
#include <kernel.h>
#include <linker/sections.h>
#include <sw_isr_table.h>
#else
#include <kernel.h>

#include <irq.h>
#include <linker/sections.h>
#include <misc/stack.h>
#include <sw_isr_table.h>
#endif

/* Does nothing: Zephyr's build needs an application. */
int main(void)
{
    return 0;
}
