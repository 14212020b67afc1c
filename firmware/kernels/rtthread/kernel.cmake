# Builds RT-Thread Nano out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
kernel_from_tree(rtthread_kernel)
# The switch's handler by the name of its slot in our vector table.
target_compile_definitions(rtthread_kernel PRIVATE PendSV_Handler=isr_pendsv)
# Its assembler has conditional instructions without the one that announces them.
target_compile_options(rtthread_kernel PRIVATE "$<$<COMPILE_LANGUAGE:ASM>:-Wa,-mimplicit-it=thumb>")

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE rtthread_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "rtthread.h")
set(KERNEL_CONFIG_PATTERN "(RT_(THREAD_PRIORITY_MAX|TICK_PER_SECOND|ALIGN_SIZE|NAME_MAX|USING_[A-Z_]+|DEBUG|BENCH_[A-Z_]+)|IDLE_THREAD_STACK_SIZE)")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/rtconfig.h")
set(KERNEL_TARGETS rtthread_kernel)
