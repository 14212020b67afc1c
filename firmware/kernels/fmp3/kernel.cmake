# Builds TOPPERS/FMP3 out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CHIP, CORES, TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
if(NOT BOARD_CHIP STREQUAL "rp2040")
  message(FATAL_ERROR "n/a: the port of kernel ${KERNEL_ID} is for the chip rp2040, not for ${BOARD_CHIP}.")
endif()
kernel_from_tree(fmp3_kernel)
target_compile_definitions(fmp3_kernel PUBLIC
  # The architecture of the core: ARMv6-M.
  __TARGET_ARCH_THUMB=3 TOPPERS_CORTEX_M0PLUS
  # The number of processors that the kernel is for.
  TNUM_PRCID=${CORES}
  # There is no system log, and no component framework. The files have all functions of their module.
  TOPPERS_OMIT_SYSLOG TOPPERS_OMIT_TECS ALLFUNC)

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE fmp3_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "kernel.h")
set(KERNEL_CONFIG_PATTERN "(FMP3_BENCH_[A-Z_]+|T(MIN|MAX)_(TPRI|INTPRI)|TNUM_PRCID|TOPPERS_TEPP_PRC|TSTEP_HRTCNT|TBITW_IPRI|TOPPERS_OMIT_[A-Z]+|NDEBUG)")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/target_kernel.h" "${KERNEL_DIR}/config/target_stddef.h")
set(KERNEL_TARGETS fmp3_kernel)
