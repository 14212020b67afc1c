# Clang out of the `ziglang` package: it compiles C; assembler files and linking stay with GCC and newlib.
# Included by the toolchain file. In: RTOSLAB_ZIG (the program), RTOSLAB_GCC. Sets CMAKE_C_COMPILER to a script that
# turns the processor flags of board.toml into those that Zig's driver takes, and CMAKE_C_LINK_EXECUTABLE.
if(NOT RTOSLAB_ZIG)
  find_program(RTOSLAB_ZIG zig)
endif()
if(NOT RTOSLAB_ZIG)
  message(FATAL_ERROR "COMPILER=clang needs the program zig (Python package ziglang) on PATH or as -DRTOSLAB_ZIG=PATH.")
endif()
execute_process(COMMAND "${RTOSLAB_GCC}" -print-file-name=libc.a OUTPUT_VARIABLE libc OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(NEWLIB_INCLUDE "${libc}" DIRECTORY)
get_filename_component(NEWLIB_INCLUDE "${NEWLIB_INCLUDE}/../include" ABSOLUTE)
if(NOT EXISTS "${NEWLIB_INCLUDE}/newlib.h") # Debian keeps headers and libraries apart
  execute_process(COMMAND "${RTOSLAB_GCC}" -print-sysroot OUTPUT_VARIABLE sysroot OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_path(found_include newlib.h HINTS "${sysroot}/include" /usr/include/newlib NO_CACHE)
  set(NEWLIB_INCLUDE "${found_include}")
endif()
if(NOT EXISTS "${CMAKE_BINARY_DIR}/clang")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/clang.sh.in" "${CMAKE_BINARY_DIR}/clang" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()
set(CMAKE_C_COMPILER "${CMAKE_BINARY_DIR}/clang")
set(CMAKE_C_LINK_EXECUTABLE
  "${RTOSLAB_GCC} -Wl,-z,noexecstack <FLAGS> <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
