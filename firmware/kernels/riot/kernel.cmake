# Builds RIOT's kernel out of the tree that its user names (cmake/KernelTree.cmake).
# In:  KERNEL_DIR (this folder), BOARD_CORE, TREE_SOURCES and the rest of tree_read
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
set(riot_core_cortex-m0plus "cm0plus;CORTEX_M0PLUS")
set(riot_core_cortex-m3 "cm3;CORTEX_M3")
set(riot_core_cortex-m4f "cm4;CORTEX_M4F")
set(riot_core_cortex-m7 "cm7;CORTEX_M7")
if(NOT DEFINED riot_core_${BOARD_CORE})
  message(FATAL_ERROR "kernels/riot has no core header for ${BOARD_CORE} of board ${BOARD}; add one to kernels/riot/kernel.cmake.")
endif()
list(GET riot_core_${BOARD_CORE} 0 riot_header)
list(GET riot_core_${BOARD_CORE} 1 riot_macro)

kernel_from_tree(riot_kernel)
target_compile_definitions(riot_kernel PUBLIC RIOT_BENCH_CORE_HEADER="core_${riot_header}.h" CPU_CORE_${riot_macro}=1)
# As RIOT's own build does with the file of this name.
target_compile_options(riot_kernel PUBLIC "$<$<COMPILE_LANGUAGE:C>:SHELL:-include riotbuild.h>")

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE riot_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "riotbuild.h")
set(KERNEL_CONFIG_PATTERN "(RIOT_BENCH_[A-Z_]+|MODULE_[A-Z0-9_]+|SCHED_[A-Z_]+|MAXTHREADS|NDEBUG|DEVELHELP)")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/riotbuild.h" "${KERNEL_DIR}/config/cpu_conf.h")
set(KERNEL_TARGETS riot_kernel)
