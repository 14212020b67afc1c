# Builds ChibiOS/RT out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CORE, TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
set(chibios_core_cortex-m0plus cm0plus)
set(chibios_core_cortex-m3 cm3)
set(chibios_core_cortex-m4f cm4)
set(chibios_core_cortex-m7 cm7)
if(NOT DEFINED chibios_core_${BOARD_CORE})
  message(FATAL_ERROR "kernels/chibios has no core header for ${BOARD_CORE} of board ${BOARD}; add one to kernels/chibios/kernel.cmake.")
endif()
string(REGEX REPLACE "^cm([0-9]).*" "\\1" chibios_model "${chibios_core_${BOARD_CORE}}")

kernel_from_tree(chibios_kernel)
target_compile_definitions(chibios_kernel PUBLIC
  CHIBIOS_BENCH_CORE_HEADER="core_${chibios_core_${BOARD_CORE}}.h" CHIBIOS_BENCH_CORE_MODEL=${chibios_model}
  # The kernel's handlers by the names of their slots in our vector table.
  SVC_Handler=isr_svcall PendSV_Handler=isr_pendsv)

# The assembler file of ARMv7-M says `.cpu cortex-m4` for every core, which would mark the image as one for that core.
if(BOARD_CORE STREQUAL "cortex-m3")
  target_compile_definitions(chibios_kernel PRIVATE "$<$<COMPILE_LANGUAGE:ASM>:m4=m3>")
endif()

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE chibios_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "ch.h")
set(KERNEL_CONFIG_PATTERN "(CH_(CFG|DBG)_[A-Z0-9_]+|CORTEX_(SIMPLIFIED_PRIORITY|ALTERNATE_SWITCH|USE_FPU|ENABLE_WFI_IDLE|FAST_PRIORITIES)|PORT_(IDLE_THREAD_STACK_SIZE|INT_REQUIRED_STACK))")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/chconf.h" "${KERNEL_DIR}/config/cmparams.h")
set(KERNEL_TARGETS chibios_kernel)
