# Builds µC/OS-II out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
kernel_from_tree(ucos2_kernel)
# The kernel's handlers by the names of their slots in our vector table.
target_compile_definitions(ucos2_kernel PUBLIC OS_CPU_SysTickHandler=isr_systick OS_CPU_PendSVHandler=isr_pendsv)

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE ucos2_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "ucos_ii.h")
set(KERNEL_CONFIG_PATTERN "(OS_[A-Z_]+_(EN|NBITS|SIZE)|OS_MAX_[A-Z_]+|OS_LOWEST_PRIO|OS_TICKS_PER_SEC|OS_BENCH_CEILINGS|CPU_CFG_[A-Z_]+)")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/os_cfg.h" "${KERNEL_DIR}/config/app_cfg.h")
set(KERNEL_TARGETS ucos2_kernel)
