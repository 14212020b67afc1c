# Builds FreeRTOS: out of its package with the package's own CMakeLists, or out of the tree that its user names.
# In:  KERNEL_DIR (this folder), KERNEL_SOURCE_DIR (the package's folder), BOARD_CHIP, BOARD_CORE, BOARD_CPU,
#      BENCH_TARGET_FLAGS, BENCH_GENERATED_DIR, CORES; TREE and what tree_read gives
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_TARGETS freertos_kernel)
set(KERNEL_CONFIG_HEADER "FreeRTOS.h")
set(KERNEL_CONFIG_PATTERN "(config|INCLUDE_)[A-Za-z0-9_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/FreeRTOSConfig.h")

# What stands for names that the version does not have yet; of the package's there is nothing.
set(earlier "/* Generated from the tree's description. */\n#pragma once\n")
foreach(name IN LISTS TREE_ABSENT)
  if(EXISTS "${KERNEL_DIR}/config/earlier/${name}.h")
    string(APPEND earlier "#include \"earlier/${name}.h\"\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${BENCH_GENERATED_DIR}/freertos_earlier.h" CONTENT "${earlier}" @ONLY)

if(TREE)
  include("${KERNEL_DIR}/tree.cmake")
else()
  include("${KERNEL_DIR}/package.cmake")
endif()
list(APPEND KERNEL_CONFIG_FILES "${chip_include}/freertos_chip_config.h")

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE freertos_kernel)
