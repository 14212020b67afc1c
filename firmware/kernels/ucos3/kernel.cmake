# Builds µC/OS-III, with the µC/CPU and µC/LIB beside it, out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
kernel_from_tree(ucos3_kernel)
# The kernel's handlers by the names of their slots in our vector table.
target_compile_definitions(ucos3_kernel PUBLIC OS_CPU_SysTickHandler=isr_systick OS_CPU_PendSVHandler=isr_pendsv)

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE ucos3_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "os.h")
set(KERNEL_CONFIG_PATTERN "(OS|CPU)_CFG_[A-Z0-9_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/os_cfg.h" "${KERNEL_DIR}/config/os_cfg_app.h" "${KERNEL_DIR}/config/cpu_cfg.h")
set(KERNEL_TARGETS ucos3_kernel)
