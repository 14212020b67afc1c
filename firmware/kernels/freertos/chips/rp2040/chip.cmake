# The kernel's own RP2040 port, for one core and for two, over headers of ours that bear the names it includes.
set(FREERTOS_PORT GCC_RP2040)
list(APPEND KERNEL_PORT_SOURCES "${chip_dir}/panic.c")
foreach(name IN ITEMS hardware_sync pico_base_headers hardware_clocks hardware_exception pico_multicore)
  add_library(${name} INTERFACE) # the port links these by name; everything they would bring is in include/
endforeach()
if(CORES GREATER 1)
  target_compile_definitions(freertos_config INTERFACE LIB_PICO_MULTICORE=1)
  list(APPEND KERNEL_PORT_SOURCES "${chip_dir}/multicore.c")
endif()
