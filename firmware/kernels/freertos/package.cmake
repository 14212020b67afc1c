# FreeRTOS out of its package. A chip with a port of its own has a folder in chips/; any other gets the port for its core.
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

include("${chip_script}") # sets FREERTOS_PORT, may add to freertos_config and KERNEL_PORT_SOURCES

set(FREERTOS_HEAP 4)
add_subdirectory("${KERNEL_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/kernel" EXCLUDE_FROM_ALL SYSTEM)
list(APPEND KERNEL_CONFIG_FILES "${KERNEL_SOURCE_DIR}/include/FreeRTOS.h")
list(APPEND KERNEL_TARGETS freertos_kernel_port)
