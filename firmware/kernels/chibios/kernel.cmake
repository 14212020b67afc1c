# Builds ChibiOS/RT out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CHIP, BOARD_CORE, CORES, TREE_SOURCES and the rest of tree_read
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

# The tree's port for two cores is for one chip, and is beside the port for one core.
if(CORES GREATER 1)
  if(NOT BOARD_CHIP STREQUAL "rp2040")
    message(FATAL_ERROR "n/a: the port of kernel ${KERNEL_ID} for two cores is for the chip rp2040, not for ${BOARD_CHIP}.")
  endif()
  set(chibios_two_cores os/common/ports/ARMv6-M-RP2)
  if(NOT EXISTS "${KERNEL_SOURCE_DIR}/${chibios_two_cores}/chcore.c")
    message(FATAL_ERROR "n/a: the tree of kernel ${KERNEL_ID} has no folder ${chibios_two_cores}, the kernel's port for both cores.")
  endif()
  list(TRANSFORM TREE_SOURCES REPLACE "/os/common/ports/ARMv6-M/" "/${chibios_two_cores}/")
  list(TRANSFORM TREE_HEADERS REPLACE "/os/common/ports/ARMv6-M$" "/${chibios_two_cores}")
endif()

kernel_from_tree(chibios_kernel)
target_compile_definitions(chibios_kernel PUBLIC
  CHIBIOS_BENCH_CORE_HEADER="core_${chibios_core_${BOARD_CORE}}.h" CHIBIOS_BENCH_CORE_MODEL=${chibios_model}
  # The kernel's handlers by the names of their slots in our vector table.
  SVC_Handler=isr_svcall PendSV_Handler=isr_pendsv)

# The assembler file of ARMv7-M says `.cpu cortex-m4` for every core, which would mark the image as one for that core.
if(BOARD_CORE STREQUAL "cortex-m3")
  target_compile_definitions(chibios_kernel PRIVATE "$<$<COMPILE_LANGUAGE:ASM>:m4=m3>")
endif()

if(CORES GREATER 1)
  # The handlers by which one core interrupts the other, too.
  target_compile_definitions(chibios_kernel PUBLIC CHIBIOS_BENCH_TWO_CORES Vector7C=isr_irq15 Vector80=isr_irq16)
endif()

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE chibios_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
if(CORES GREATER 1)
  list(APPEND KERNEL_PORT_SOURCES "${KERNEL_DIR}/core1.c")
endif()
set(KERNEL_CONFIG_HEADER "ch.h")
set(KERNEL_CONFIG_PATTERN "(CH_(CFG|DBG)_[A-Z0-9_]+|CORTEX_(SIMPLIFIED_PRIORITY|ALTERNATE_SWITCH|USE_FPU|ENABLE_WFI_IDLE|FAST_PRIORITIES)|PORT_(IDLE_THREAD_STACK_SIZE|INT_REQUIRED_STACK|SPINLOCK_NUMBER))")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/chconf.h" "${KERNEL_DIR}/config/cmparams.h")
set(KERNEL_TARGETS chibios_kernel)
