# Builds TOPPERS/ASP3 out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CORE, TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
kernel_from_tree(asp3_kernel)
target_compile_definitions(asp3_kernel PUBLIC
  # The architecture of the core: ARMv7-M.
  __TARGET_ARCH_THUMB=4
  # There is no system log, and no component framework. The files have all functions of their module.
  TOPPERS_OMIT_SYSLOG TOPPERS_OMIT_TECS ALLFUNC)
if(NOT BOARD_CORE STREQUAL "cortex-m3")
  target_compile_definitions(asp3_kernel PUBLIC TOPPERS_FPU_CONTEXT TOPPERS_FPU_LAZYSTACKING)
endif()

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE asp3_kernel)
# The kernel looks handlers up in the image's own vectors.
target_link_options(kernel INTERFACE "-Wl,--defsym=_kernel_exc_tbl=cpu_vectors")

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "kernel.h")
set(KERNEL_CONFIG_PATTERN "(ASP3_BENCH_[A-Z_]+|T(MIN|MAX)_(TPRI|INTPRI)|TSTEP_HRTCNT|TBITW_IPRI|TOPPERS_(OMIT|FPU)_[A-Z]+|NDEBUG)")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/target_kernel.h" "${KERNEL_DIR}/config/target_stddef.h")
set(KERNEL_TARGETS asp3_kernel)
