# cmake -DINPUT=build_info_input.cmake -DOUTPUT=build-info.json -P WriteBuildInfo.cmake
# Run after each link. Keys and lists are sorted and paths are relative to what they belong to, so that the same
# sources and options give the same file on every machine.
cmake_minimum_required(VERSION 3.25)
include("${INPUT}")

function(quoted out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

function(json_list out)
  set(items "")
  foreach(item IN LISTS ARGN)
    quoted(item "${item}")
    list(APPEND items "${item}")
  endforeach()
  list(JOIN items ", " text)
  set(${out} "[${text}]" PARENT_SCOPE)
endfunction()

# Arguments are name=value; a value may hold further `=`.
function(json_object out)
  set(items "")
  foreach(pair IN LISTS ARGN)
    string(FIND "${pair}" "=" at)
    string(SUBSTRING "${pair}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${pair}" ${at} -1 value)
    quoted(value "${value}")
    list(APPEND items "\n    \"${name}\": ${value}")
  endforeach()
  list(JOIN items "," text)
  set(${out} "{${text}\n  }" PARENT_SCOPE)
endfunction()

# Every file whose content can reach the image, as name=path.
function(all_sources out)
  set(files ${target_sources})
  foreach(target IN LISTS kernel_targets)
    foreach(source IN LISTS sources.${target})
      get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${dir.${target}}")
      list(APPEND files "${source}")
    endforeach()
  endforeach()
  file(GLOB_RECURSE ours
    "${FIRMWARE_DIR}/include/*.h" "${FIRMWARE_DIR}/core/*.h" "${FIRMWARE_DIR}/core/run/*.h" "${BENCH_DIR}/*"
    "${KERNEL_DIR}/*" "${FIRMWARE_DIR}/cmake/*.cmake" "${FIRMWARE_DIR}/CMakeLists.txt")
  foreach(folder IN LISTS CPU_FOLDERS BOARD_FOLDERS INSTRUMENT_FOLDER)
    file(GLOB found "${folder}/*")
    list(FILTER found INCLUDE REGEX "\\.[^/]*$") # files; a support folder may hold others
    list(APPEND ours ${found})
  endforeach()
  list(APPEND files ${ours})
  list(REMOVE_DUPLICATES files)
  list(FILTER files EXCLUDE REGEX "\\.rule$") # CMake's own markers, not files
  set(named "")
  foreach(path IN LISTS files)
    set(name "${path}")
    string(REPLACE "${FIRMWARE_DIR}/" "firmware/" name "${name}")
    string(REPLACE "${KERNEL_DIR}/" "port/" name "${name}") # of a port outside
    string(REPLACE "${KERNEL_SOURCE_DIR}/" "kernel/" name "${name}")
    string(REPLACE "${CMAKE_BINARY_DIR}/" "build/" name "${name}")
    list(APPEND named "${name}=${path}")
  endforeach()
  list(SORT named)
  set(${out} "${named}" PARENT_SCOPE)
endfunction()

all_sources(named_files)
set(source_items "")
foreach(pair IN LISTS named_files)
  string(REGEX REPLACE "^([^=]*)=.*$" "\\1" name "${pair}")
  string(REGEX REPLACE "^[^=]*=" "" path "${pair}")
  file(SHA256 "${path}" hash)
  list(APPEND source_items "\n    \"${name}\": \"${hash}\"")
endforeach()
list(JOIN source_items "," sources)

# A macro's value may hold `;`, which would split a CMake list: it travels as a mark of its own.
file(READ "${macros}" macro_text)
string(REPLACE ";" "<semicolon>" macro_text "${macro_text}")
string(REGEX MATCHALL "#define (${KERNEL_CONFIG_PATTERN}|_NEWLIB_VERSION)(\\([^)]*\\))?( [^\n]*)?\n" defines "${macro_text}")
# A value that is itself the name of a macro, in parentheses perhaps, is followed to its end.
function(final_value out value)
  foreach(step RANGE 8)
    set(name "${value}")
    while(name MATCHES "^\\( *(.*[^ ]) *\\)$")
      set(name "${CMAKE_MATCH_1}")
    endwhile()
    if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$") # what is none must not get into the pattern below
      break()
    elseif(NOT macro_text MATCHES "#define ${name} ([^\n]+)\n")
      break()
    endif()
    set(value "${CMAKE_MATCH_1}")
  endforeach()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

set(config "")
set(newlib "")
foreach(define IN LISTS defines)
  string(STRIP "${define}" define)
  if(define MATCHES "^#define (_NEWLIB_VERSION) \"?([^\"]*)\"?")
    set(newlib "${CMAKE_MATCH_2}")
  elseif(define MATCHES "^#define ([A-Za-z0-9_]+)(\\([^)]*\\))? ?(.*)$")
    set(name "${CMAKE_MATCH_1}")
    final_value(value "${CMAKE_MATCH_3}")
    list(APPEND config "${name}=${value}")
  endif()
endforeach()
list(SORT config)

json_object(config_json ${config})
string(REPLACE "<semicolon>" ";" config_json "${config_json}")
json_object(params_json ${BENCH_PARAMS_FINAL})
json_object(clock_json ${CLOCK_FACTS})
json_object(features_json ${FEATURES_FINAL})
json_list(flags_json ${recorded_flags})
json_list(strict_json ${STRICT_FLAGS})
quoted(banner_json "${banner}")
file(WRITE "${OUTPUT}" "{
  \"format\": 1,
  \"bench\": \"${BENCH}\",
  \"kernel\": \"${KERNEL_ID}\",
  \"board\": \"${BOARD}\",
  \"cores\": ${CORES},
  \"code\": \"${CODE}\",
  \"data\": \"${DATA}\",
  \"placement\": ${PLACEMENT},
  \"clock_hz\": ${CLOCK_HZ},
  \"clock\": ${clock_json},
  \"features\": ${features_json},
  \"window_ms\": ${WINDOW_MS},
  \"warmup_ms\": ${WARMUP_MS},
  \"measure\": \"${MEASURE}\",
  \"instrument\": \"${INSTRUMENT}\",
  \"samples\": \"${SAMPLES}\",
  \"run_id\": \"${RUN_ID}\",
  \"manifest\": \"${MANIFEST}\",
  \"params\": ${params_json},
  \"kernel_version\": \"${KERNEL_VERSION}\",
  \"kernel_licence\": \"${kernel.licence}\",
  \"kernel_package\": {
    \"name\": \"${KERNEL_PACKAGE}\",
    \"version\": \"${KERNEL_PACKAGE_VERSION}\",
    \"sha256\": \"${KERNEL_PACKAGE_CHECKSUM}\"
  },
  \"compiler\": {
    \"id\": \"${CMAKE_C_COMPILER_ID}\",
    \"version\": \"${CMAKE_C_COMPILER_VERSION}\",
    \"banner\": ${banner_json},
    \"newlib\": \"${newlib}\"
  },
  \"flags\": ${flags_json},
  \"own_code_flags\": ${strict_json},
  \"kernel_config\": ${config_json},
  \"sources\": {${sources}
  }
}
")
