# The cross compiler, found by name on PATH; processor flags come from board.toml, not from here.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

find_program(RTOSLAB_GCC arm-none-eabi-gcc)
if(NOT RTOSLAB_GCC)
  message(FATAL_ERROR "The compiler arm-none-eabi-gcc is not on PATH: install gcc-arm-none-eabi and libnewlib-arm-none-eabi.")
endif()
set(CMAKE_C_COMPILER "${RTOSLAB_GCC}")
set(CMAKE_ASM_COMPILER "${RTOSLAB_GCC}")
