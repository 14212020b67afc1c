# Writes build-info.json beside the image: everything that can change a number, and no path of this machine.
#   build_info(<target>)   needs KERNEL_TARGETS, KERNEL_CONFIG_HEADER, KERNEL_CONFIG_PATTERN from kernel.cmake

# Refuses a KERNEL_CONFIG name that the kernel does not know or that must keep its value here.
# Known: names guarded by #ifndef in the files of KERNEL_CONFIG_FILES, less those ours define without a guard.
function(check_kernel_config)
  set(known "")
  set(fixed "")
  foreach(config_file IN LISTS KERNEL_CONFIG_FILES)
    file(READ "${config_file}" text)
    string(REGEX MATCHALL "# *ifndef +${KERNEL_CONFIG_PATTERN}" guards "${text}")
    list(TRANSFORM guards REPLACE "# *ifndef +" "")
    list(APPEND known ${guards})
    string(FIND "${config_file}" "${FIRMWARE_DIR}/" in_ours)
    string(FIND "${config_file}" "${KERNEL_DIR}/" in_port)
    if(in_ours EQUAL 0 OR in_port EQUAL 0)
      string(REGEX MATCHALL "# *define +${KERNEL_CONFIG_PATTERN}" defines "${text}")
      list(TRANSFORM defines REPLACE "# *define +" "")
      list(REMOVE_ITEM defines ${guards})
      list(APPEND fixed ${defines})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES known)
  if(fixed)
    list(REMOVE_ITEM known ${fixed})
  endif()
  list(SORT known)
  foreach(setting IN LISTS KERNEL_CONFIG)
    string(REGEX REPLACE "=.*" "" name "${setting}")
    if(NOT name IN_LIST known)
      list(JOIN known ", " listing)
      message(FATAL_ERROR "KERNEL_CONFIG: kernel ${KERNEL_ID} has no setting `${name}` that may be changed; known: ${listing}.")
    endif()
  endforeach()
endfunction()

function(build_info target)
  check_kernel_config()
  execute_process(COMMAND "${CMAKE_C_COMPILER}" --version OUTPUT_VARIABLE banner)
  string(REGEX REPLACE "\n.*" "" banner "${banner}")

  set(probe "${BENCH_GENERATED_DIR}/config_probe.c")
  file(CONFIGURE OUTPUT "${probe}" CONTENT "#include <newlib.h>\n#include <${KERNEL_CONFIG_HEADER}>\n" @ONLY)
  set(macros "${CMAKE_BINARY_DIR}/config_macros.txt")

  set(input "${CMAKE_BINARY_DIR}/build_info_input.cmake")
  # Sources of the kernel's targets may be relative to their own folder: the script makes them absolute.
  set(text "set(target_sources \"$<TARGET_PROPERTY:${target},SOURCES>\")\nset(kernel_targets \"${KERNEL_TARGETS}\")\n")
  foreach(kernel_target IN LISTS KERNEL_TARGETS)
    string(APPEND text
      "set(sources.${kernel_target} \"$<TARGET_PROPERTY:${kernel_target},SOURCES>\")\n"
      "set(dir.${kernel_target} \"$<TARGET_PROPERTY:${kernel_target},SOURCE_DIR>\")\n")
  endforeach()
  set(recorded_flags ${BENCH_TARGET_FLAGS})
  list(FILTER recorded_flags EXCLUDE REGEX "prefix-map")
  if(LTO)
    list(APPEND recorded_flags "-flto=1 (of the kernel)")
  endif()
  foreach(name IN ITEMS BENCH BENCH_DIR KERNEL_ID KERNEL_DIR BOARD CORES CODE DATA CLOCK_HZ CLOCK_FACTS FEATURES_FINAL BOARD_FOLDERS CPU_FOLDERS WINDOW_MS WARMUP_MS MEASURE INSTRUMENT INSTRUMENT_FOLDER SAMPLES OPT PLACEMENT RUN_ID MANIFEST BENCH_PARAMS_FINAL
          KERNEL_PACKAGE KERNEL_PACKAGE_VERSION KERNEL_PACKAGE_CHECKSUM KERNEL_CONFIG_PATTERN FIRMWARE_DIR BOARD_CPU
          KERNEL_SOURCE_DIR CMAKE_BINARY_DIR banner macros CMAKE_C_COMPILER_ID CMAKE_C_COMPILER_VERSION
          recorded_flags STRICT_FLAGS KERNEL_VERSION kernel.licence)
    string(APPEND text "set(${name} [==[${${name}}]==])\n")
  endforeach()
  file(GENERATE OUTPUT "${input}" CONTENT "${text}")

  set(output "${CMAKE_BINARY_DIR}/build-info.json")
  set(script "${FIRMWARE_DIR}/cmake/WriteBuildInfo.cmake")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_C_COMPILER}" ${BENCH_TARGET_FLAGS} -E -dM
      "-D$<JOIN:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,;-D>" # never empty: see below
      "-I$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,;-I>"
      "${probe}" -o "${macros}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${input}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS ${target} "${script}" "${input}" "${probe}"
    COMMENT "Recording the build" VERBATIM COMMAND_EXPAND_LISTS)
  add_custom_target(build_info ALL DEPENDS "${output}")
  target_compile_definitions(${target} PRIVATE RTOSLAB=1)
endfunction()
