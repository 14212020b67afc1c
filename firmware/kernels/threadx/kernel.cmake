# Builds ThreadX out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
kernel_from_tree(threadx_kernel)
# Our configuration, and the switch handler by the name of its slot in our vector table.
target_compile_definitions(threadx_kernel PUBLIC TX_INCLUDE_USER_DEFINE_FILE)
target_compile_definitions(threadx_kernel PRIVATE PendSV_Handler=isr_pendsv)
# Up to 6.1.6 the switch keeps floating-point registers only where it is told so; its assembler reads no tx_user.h.
if("${BENCH_TARGET_FLAGS}" MATCHES "-mfpu")
  target_compile_definitions(threadx_kernel PRIVATE TX_ENABLE_FPU_SUPPORT)
endif()

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE threadx_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "tx_api.h")
set(KERNEL_CONFIG_PATTERN "TX_(MAX_PRIORITIES|TIMER_TICKS_PER_SECOND|TIMER_PROCESS_IN_ISR|DISABLE_[A-Z_]+|INLINE_[A-Z_]+|REACTIVATE_INLINE|ENABLE_[A-Z_]+|MINIMUM_STACK|BENCH_SPEED)")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/tx_user.h")
set(KERNEL_TARGETS threadx_kernel)
