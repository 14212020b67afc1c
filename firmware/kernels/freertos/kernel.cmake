# Builds FreeRTOS out of its package with the package's own CMakeLists.
# In:  KERNEL_DIR (this folder), KERNEL_SOURCE_DIR (the package's folder), BOARD_CHIP, BOARD_CORE, BOARD_CPU,
#      BENCH_TARGET_FLAGS, BENCH_GENERATED_DIR, CORES
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
# A chip with a port of its own has a folder in chips/; any other gets the port for its core.
if(EXISTS "${KERNEL_DIR}/chips/${BOARD_CHIP}/chip.cmake")
  set(chip_dir "${KERNEL_DIR}/chips/${BOARD_CHIP}")
  set(chip_script "${chip_dir}/chip.cmake")
  set(chip_include "${chip_dir}/include")
else()
  set(chip_script "${KERNEL_DIR}/cores/${BOARD_CORE}.cmake")
  set(chip_include "${KERNEL_DIR}/cores/${BOARD_CPU}")
  if(NOT EXISTS "${chip_script}")
    file(GLOB known RELATIVE "${KERNEL_DIR}/cores" "${KERNEL_DIR}/cores/*.cmake")
    message(FATAL_ERROR "kernels/freertos has neither chips/${BOARD_CHIP} nor cores/${BOARD_CORE}.cmake; it knows: ${known}.")
  endif()
endif()

add_library(freertos_config INTERFACE)
target_include_directories(freertos_config INTERFACE
  "${KERNEL_DIR}/config" "${chip_include}" "${BENCH_GENERATED_DIR}")
target_compile_options(freertos_config INTERFACE ${BENCH_TARGET_FLAGS}
  "-ffile-prefix-map=${KERNEL_SOURCE_DIR}=kernel")

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
include("${chip_script}") # sets FREERTOS_PORT, may add to freertos_config and KERNEL_PORT_SOURCES

set(FREERTOS_HEAP 4)
add_subdirectory("${KERNEL_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/kernel" EXCLUDE_FROM_ALL SYSTEM)

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE freertos_kernel)

set(KERNEL_CONFIG_HEADER "FreeRTOS.h")
set(KERNEL_CONFIG_PATTERN "(config|INCLUDE_)[A-Za-z0-9_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/FreeRTOSConfig.h" "${chip_include}/freertos_chip_config.h"
  "${KERNEL_SOURCE_DIR}/include/FreeRTOS.h")
set(KERNEL_TARGETS freertos_kernel freertos_kernel_port)
