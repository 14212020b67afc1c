# Asymmetric multiprocessing: makes of a build the image of one core beside another image on the other core.
#
# Taken in by the build of the firmware, of which it changes no file:
#   cmake -S firmware -B A -DKERNEL=rt       … -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=amp/amp.cmake -DAMP_CORE:STRING=1
#   cmake -S firmware -B B -DKERNEL=freertos … -DCMAKE_PROJECT_rtoslab_firmware_INCLUDE=amp/amp.cmake -DAMP_CORE:STRING=0
#         -DAMP_CORE1_IMAGE:STRING=$PWD/A/image.elf
# B/image.elf then holds both, and is what a board is flashed with.
#
#   AMP_CORE         the core that this image is for
#   AMP_RAM          banks or striped: how <board>/map.toml divides the SRAM
#   AMP_CORE1_IMAGE  of core 0's image: the finished image of core 1
set(AMP_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(AMP_CORE "" CACHE STRING "the core that this image is for")
set(AMP_RAM "striped" CACHE STRING "how the map divides the SRAM")
set(AMP_CORE1_IMAGE "" CACHE STRING "core 1's image, which core 0's holds")
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL amp_image)

function(amp_image)
  set(map_file "${AMP_DIR}/${BOARD}/map.toml")
  if(NOT EXISTS "${map_file}")
    message(FATAL_ERROR "n/a: firmware/amp has no map that divides board ${BOARD} between two kernels.")
  endif()
  if(NOT CORES EQUAL 1)
    message(FATAL_ERROR "n/a: of two kernels each runs on one core, so CORES=${CORES} cannot be built.")
  endif()
  if(KERNEL_OWNS_START)
    message(FATAL_ERROR "n/a: kernel ${KERNEL_ID} is linked by its own script, which places it over the whole memory.")
  endif()
  require_form(AMP_CORE "[01]" "0 or 1")
  toml_read(amp "${map_file}")
  if(NOT DEFINED amp.${AMP_RAM}.shared_start)
    message(FATAL_ERROR "${map_file} has no division AMP_RAM=${AMP_RAM}; known: banks, striped.")
  endif()
  if((AMP_CORE EQUAL 0) EQUAL (AMP_CORE1_IMAGE STREQUAL ""))
    message(FATAL_ERROR "AMP_CORE1_IMAGE must name core 1's finished image when core 0's is built, and only then.")
  endif()
  amp_sources()
  amp_script()
endfunction()

function(amp_sources)
  toml_header(amp AMP "${BENCH_GENERATED_DIR}/bench_amp_facts.h")
  string(TOUPPER "${AMP_RAM}" ram)
  file(CONFIGURE OUTPUT "${BENCH_GENERATED_DIR}/bench_amp_config.h" CONTENT
    "/* Generated from the build's options. */\n#pragma once\n#define AMP_CORE ${AMP_CORE}\n#define AMP_SHARED_START AMP_${ram}_SHARED_START\n#define AMP_SHARED_BYTES AMP_${ram}_SHARED_BYTES\n#define AMP_FIFO_IRQ AMP_CORE${AMP_CORE}_FIFO_IRQ\n"
    @ONLY)
  file(GLOB sources CONFIGURE_DEPENDS "${AMP_DIR}/${BOARD}/*.c" "${AMP_DIR}/${BOARD}/core${AMP_CORE}/*.c")
  target_sources(image PRIVATE ${sources})
  file(GLOB users CONFIGURE_DEPENDS "${BENCH_DIR}/*.c")
  if(NOT DEFINED bench.pair)
    set(users "") # all others are compiled as on one core
  endif()
  set_property(SOURCE ${sources} ${users} APPEND PROPERTY INCLUDE_DIRECTORIES "${AMP_DIR}/${BOARD}" "${AMP_DIR}/include")
  if(AMP_CORE EQUAL 0)
    amp_other_image("${CMAKE_BINARY_DIR}/amp")
  endif()
endfunction()

# Core 1's image as bytes, and its symbols with `core1_` before their names.
function(amp_other_image folder)
  get_filename_component(other "${AMP_CORE1_IMAGE}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
  add_custom_command(
    OUTPUT "${folder}/core1_image.S"
    COMMAND "${CMAKE_OBJCOPY}" -O binary "${other}" "${folder}/core1.bin"
    COMMAND "${CMAKE_OBJCOPY}" --prefix-symbols=core1_ "${other}" "${folder}/core1.elf"
    COMMAND "${CMAKE_COMMAND}" -E copy "${AMP_DIR}/core1_image.S" "${folder}/core1_image.S"
    DEPENDS "${other}" "${AMP_DIR}/core1_image.S"
    COMMENT "Taking in core 1's image" VERBATIM)
  set_source_files_properties("${folder}/core1_image.S" PROPERTIES COMPILE_OPTIONS "-I${folder}")
  target_sources(image PRIVATE "${folder}/core1_image.S")
  target_link_options(image PRIVATE "-Wl,--just-symbols=${folder}/core1.elf")
endfunction()

# The board's own script with this core's memories; core 0's has a section for core 1's image besides.
function(amp_script)
  set(folder "${CMAKE_BINARY_DIR}/amp")
  foreach(name IN ITEMS flash_start flash_bytes stack_start stack_bytes)
    toml_get(${name} amp core${AMP_CORE}.${name})
  endforeach()
  toml_get(ram_start amp ${AMP_RAM}.core${AMP_CORE}_start)
  toml_get(ram_bytes amp ${AMP_RAM}.core${AMP_CORE}_bytes)
  toml_get(other_start amp core1.flash_start)
  toml_get(other_bytes amp core1.flash_bytes)
  math(EXPR vectors "${flash_start} + 256" OUTPUT_FORMAT HEXADECIMAL)
  set(memories "    boot2 (rx) : ORIGIN = ${flash_start}, LENGTH = 256
    flash (rx) : ORIGIN = ${vectors}, LENGTH = ${flash_bytes} - 256
    sram (rwx) : ORIGIN = ${ram_start}, LENGTH = ${ram_bytes}
    stack (rw) : ORIGIN = ${stack_start}, LENGTH = ${stack_bytes}\n")
  set(headers "    boot PT_LOAD FLAGS(5);\n    code PT_LOAD FLAGS(5);\n    data PT_LOAD FLAGS(6);\n    zero PT_LOAD FLAGS(6);\n")
  set(sections "")
  if(AMP_CORE EQUAL 0)
    string(APPEND memories "    core1 (rx) : ORIGIN = ${other_start}, LENGTH = ${other_bytes}\n")
    string(APPEND headers "    core1 PT_LOAD FLAGS(5);\n")
    set(sections "SECTIONS { .core1 : { KEEP(*(.core1)) } > core1 :core1 }\n")
  endif()
  # Fault handlers read a frame only between these two; the stack's bank may lie below the data's or above.
  file(CONFIGURE OUTPUT "${folder}/regions.ld" CONTENT "/* Generated from map.toml. */
MEMORY\n{\n${memories}}\nPHDRS\n{\n${headers}}
ENTRY(cpu_reset)
__main_stack_top = ORIGIN(stack) + LENGTH(stack);
__ram_start = MIN(ORIGIN(sram), ORIGIN(stack));
__ram_end = MAX(ORIGIN(sram) + LENGTH(sram), __main_stack_top);
" @ONLY)
  get_filename_component(script "${LINKER_SCRIPT}" NAME)
  file(READ "${LINKER_SCRIPT}" text)
  string(REPLACE "cpu_vectors == 0x10000100" "cpu_vectors == ${vectors}" text "${text}")
  file(CONFIGURE OUTPUT "${folder}/image_${script}" CONTENT "${text}${sections}" @ONLY)
  get_target_property(options image LINK_OPTIONS)
  list(TRANSFORM options REPLACE "^-T.*" "-T${folder}/image_${script}")
  set(wrapped board_init board_serial_put board_serial_flush board_claim_last_word run_program gate_open port_alarm)
  list(TRANSFORM wrapped PREPEND "-Wl,--wrap=")
  set_target_properties(image PROPERTIES LINK_OPTIONS "-L${folder};${options};${wrapped}")
endfunction()
