# Builds RTX5 out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CORE, TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
set(rtx_core_cortex-m0plus cm0plus)
set(rtx_core_cortex-m3 cm3)
set(rtx_core_cortex-m4f cm4)
set(rtx_core_cortex-m7 cm7)
if(NOT DEFINED rtx_core_${BOARD_CORE})
  message(FATAL_ERROR "kernels/rtx has no core header for ${BOARD_CORE} of board ${BOARD}; add one to kernels/rtx/kernel.cmake.")
endif()

kernel_from_tree(rtx_kernel)
target_compile_definitions(rtx_kernel PUBLIC RTX_BENCH_CORE_HEADER="core_${rtx_core_${BOARD_CORE}}.h"
  # The kernel's handlers by the names of their slots in our vector table.
  SVC_Handler=isr_svcall PendSV_Handler=isr_pendsv SysTick_Handler=isr_systick)

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE rtx_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "RTX_Config.h")
set(KERNEL_CONFIG_PATTERN "OS_[A-Z0-9_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/RTX_Config.h")
set(KERNEL_TARGETS rtx_kernel)
