# Where code and data lie: the order of functions, constants, variables and stacks, and how far the code is shifted, by the
# number PLACEMENT. 0 is the linker's own order. Any other number: the image is linked as it would be anyway, its map says
# which sections it holds (the C library's, and those that link-time optimisation makes, too), and it is linked again in the
# order of the hashes of number and section. So the same number gives the same image on any machine, and a section keeps
# its place in the order when others come and go.
#   kernel_script(<path>) LINKER_SCRIPT of a kernel that is linked by a script of its own: that script, and what our images
#                         have besides; under a placement a copy of it with the order where it takes sections in
#   placement_prepare()   makes the parts of the linker scripts that say the order, and has the link done twice
# Run as a script between the two links: cmake -DSEED=N -DMAP=image.map -DFOLDER=generated -P Placement.cmake
cmake_minimum_required(VERSION 3.25)
set(PLACED text rodata data bss stack noinit) # stacks are `.stack` in our scripts, `.noinit` in some kernels' own
set(PLACEMENT_SHIFTS 16) # words: a line of every flash buffer and cache of our boards, twice or more

function(placement_write folder part lines)
  file(WRITE "${folder}/placed_${part}.ld" "/* Made by cmake/Placement.cmake. Included inside an output section. */\n${lines}")
endfunction()

# A script of a kernel's takes in the sections of a kind in one line, whichever file they come from: `*(.text .text.*)`, say,
# or `*(.text)`. What a placement orders goes before that. A script may have no line of its own for stacks.
function(kernel_script script)
  if(PLACEMENT)
    file(READ "${script}" text)
    foreach(part IN LISTS PLACED)
      set(taken_in "\n[ \t]*\\*\\(\"?\\.${part}\"?[ )]")
      string(REGEX MATCHALL "${taken_in}" lines "${text}")
      list(LENGTH lines count)
      if(count EQUAL 1)
        string(REGEX REPLACE "(${taken_in})" "\nINCLUDE placed_${part}.ld\\1" text "${text}")
      elseif(count OR part MATCHES "^(text|rodata|data|bss)$")
        message(FATAL_ERROR "n/a: the linker script of kernel ${KERNEL_ID} takes in .${part} in ${count} lines of its own, not in one, so nothing can be put before it.")
      endif()
    endforeach()
    set(script "${BENCH_GENERATED_DIR}/kernel_placed.ld")
    file(WRITE "${script}" "${text}")
  endif()
  set(LINKER_SCRIPT "${BENCH_GENERATED_DIR}/kernel_image.ld")
  file(CONFIGURE OUTPUT "${LINKER_SCRIPT}" CONTENT "INCLUDE \"${script}\"
SECTIONS
{
    .bench_marks 0 (INFO) : { KEEP(*(.bench_marks)) }
}
" @ONLY)
  set(LINKER_SCRIPT "${LINKER_SCRIPT}" PARENT_SCOPE)
  set(KERNEL_IS_PLACED "${PLACEMENT}" PARENT_SCOPE)
endfunction()

macro(placement_prepare)
  foreach(part IN LISTS PLACED)
    placement_write("${BENCH_GENERATED_DIR}" "${part}" "")
  endforeach()
  if(PLACEMENT)
    if(KERNEL_OWNS_START AND NOT KERNEL_IS_PLACED)
      message(FATAL_ERROR "n/a: kernel ${KERNEL_ID} is linked by its own script, which says where everything lies.")
    endif()
    set(placement_script "\"${CMAKE_COMMAND}\" -DSEED=${PLACEMENT} \"-DMAP=${CMAKE_BINARY_DIR}/image.map\" \"-DFOLDER=${BENCH_GENERATED_DIR}\" -P \"${FIRMWARE_DIR}/cmake/Placement.cmake\"")
    set(CMAKE_C_LINK_EXECUTABLE "${CMAKE_C_LINK_EXECUTABLE}" "${placement_script}" "${CMAKE_C_LINK_EXECUTABLE}")
  endif()
endmacro()

# The input section in the linker's words: by its name, which is its function's or variable's; one without, by its file.
function(placement_pattern out name file)
  if(NOT name MATCHES "^\\.(text|rodata|data|bss)$")
    set(pattern "*(${name})")
  elseif(file MATCHES "\\.ltrans[0-9]*\\.")
    set(pattern "") # what link-time optimisation makes has another file name each time
  elseif(file MATCHES "([^/]+\\.a)\\(([^)]+)\\)$")
    set(pattern "*${CMAKE_MATCH_1}:${CMAKE_MATCH_2}(${name})")
  else()
    string(REGEX REPLACE "^.*/" "" file "${file}")
    set(pattern "*${file}(${name})")
  endif()
  set(${out} "${pattern}" PARENT_SCOPE)
endfunction()

function(placement_order map folder seed)
  file(READ "${map}" text)
  string(FIND "${text}" "\nLinker script and memory map\n" begin) # before it stand the sections that were left out
  string(SUBSTRING "${text}" ${begin} -1 text)
  foreach(part IN LISTS PLACED)
    string(REGEX MATCHALL "\n \\.${part}[^ \n]*\n? +0x[0-9a-f]+ +0x[1-9a-f][0-9a-f]* [^\n]+" found "${text}")
    set(keyed "")
    foreach(each IN LISTS found)
      string(REGEX MATCH "^\n ([^ \n]+)\n? +0x[0-9a-f]+ +0x[0-9a-f]+ ([^\n]+)" each "${each}")
      placement_pattern(pattern "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
      if(pattern)
        string(SHA256 key "${seed} ${pattern}")
        list(APPEND keyed "${key} ${pattern}")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES keyed)
    list(SORT keyed)
    list(TRANSFORM keyed REPLACE "^[^ ]+ " "")
    list(JOIN keyed "\n" lines)
    if(part STREQUAL "text")
      string(SHA256 key "${seed} shift")
      string(SUBSTRING "${key}" 0 4 key)
      math(EXPR shift_bytes "0x${key} % ${PLACEMENT_SHIFTS} * 4")
      string(PREPEND lines ". += ${shift_bytes};\n")
    endif()
    placement_write("${folder}" "${part}" "${lines}\n")
  endforeach()
endfunction()

if(DEFINED SEED AND CMAKE_SCRIPT_MODE_FILE)
  placement_order("${MAP}" "${FOLDER}" "${SEED}")
endif()
