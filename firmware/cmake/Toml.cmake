# Reads the flat part of TOML: `key = value` and `[section]` or `[section.part]` lines, nothing over two lines.
# Values understood: "string", true/false, decimal and 0x integers (with _ between digits), ["list", "of", "strings"].
# Anything else (other arrays, floats) belongs to the host: it is skipped here, and refused by name only if a caller asks
# for that very key. The n-th [[table]] is read as the section [table.n], from 0; what is odd in it is left to the host.
#
#   toml_read(<prefix> <file>)                 variables <prefix>.<section>.<key> (or <prefix>.<key> above any section)
#   toml_get(<out> <prefix> <key>)             the value, or an error that names file and key
#   toml_get_or(<out> <prefix> <key> <value>)  the value, or this one where the file has none
#   toml_keys(<out> <prefix> <section>)        the keys of one section, in file order
#   toml_parts(<out> <prefix> <section>)       what follows the dot in its `[section.part]` lines, in file order
#   toml_set(<prefix> <key> <value>)           replaces a value read, for everything that asks for it later

#
# What was read of a file stands beside the build as CMake's own code, named by this file's content and that one's: CMake
# takes that in a tenth of the time. Whoever configures many builds may lay the folder `toml` of one into the next.

set(_toml_key_form "[A-Za-z0-9_-]+")
set(_toml_reader "${CMAKE_CURRENT_LIST_FILE}")

macro(_toml_store _name _kind _value)
  list(APPEND names "${_name}")
  set(kind.${_name} "${_kind}")
  set(value.${_name} "${_value}")
endmacro()

function(toml_read prefix file)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "There is no file ${file}.")
  endif()
  get_filename_component(file "${file}" ABSOLUTE) # one file under two names would be two rules of the build
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(SHA256 "${file}" digest)
  file(SHA256 "${_toml_reader}" reader)
  string(SHA256 digest "${reader}${digest}")
  set(known "${CMAKE_BINARY_DIR}/toml/${digest}.cmake")
  if(NOT EXISTS "${known}")
    _toml_parse("${file}" "${known}")
  endif()
  include("${known}") # sets for the caller all that it says of ${prefix}
  set(${prefix}/file "${file}" PARENT_SCOPE)
endfunction()

# Writes the names, kinds and values of a TOML file as CMake code, and the scalar ones as C macros, @_ in their prefix's place.
function(_toml_parse file out)
  file(READ "${file}" text)
  # The lines as a list, which cannot hold `;`, a lone bracket or a backslash as they are: those stand encoded in it.
  string(REPLACE "\r" "" text "${text}")
  foreach(code IN ITEMS 1 2 3 4)
    string(ASCII ${code} mark_${code})
  endforeach()
  string(REPLACE ";" "${mark_1}" text "${text}")
  string(REPLACE "[" "${mark_2}" text "${text}")
  string(REPLACE "]" "${mark_3}" text "${text}")
  string(REPLACE "\\" "${mark_4}" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(section "")
  set(names "")
  set(line_number 0)
  set(in_table FALSE)
  foreach(line IN LISTS text)
    math(EXPR line_number "${line_number} + 1")
    if(line MATCHES "^ *(#|$)")
      continue()
    endif()
    string(STRIP "${line}" line)
    string(REPLACE "${mark_1}" ";" line "${line}")
    string(REPLACE "${mark_2}" "[" line "${line}")
    string(REPLACE "${mark_3}" "]" line "${line}")
    string(REPLACE "${mark_4}" "\\" line "${line}")
    if(line MATCHES "^(${_toml_key_form}) *= *(.*)$")
      set(name "${section}${CMAKE_MATCH_1}")
      set(value "${CMAKE_MATCH_2}")
      if(value MATCHES "^\"([^\"\\]*)\" *(#.*)?$")
        _toml_store("${name}" value "${CMAKE_MATCH_1}")
      elseif(value MATCHES "^(true|false|0x[0-9A-Fa-f_]+|[0-9][0-9_]*) *(#.*)?$")
        string(REPLACE "_" "" number "${CMAKE_MATCH_1}")
        _toml_store("${name}" value "${number}")
      elseif(value MATCHES "^\\[ *((\"[^\"]*\" *,? *)*)\\] *(#.*)?$")
        string(REGEX MATCHALL "[^\", ]+" items "${CMAKE_MATCH_1}")
        _toml_store("${name}" list "${items}")
      else()
        _toml_store("${name}" skipped "line ${line_number}")
      endif()
    elseif(line MATCHES "^\\[\\[(${_toml_key_form})\\]\\]")
      string(REPLACE "-" "_" table "${CMAKE_MATCH_1}")
      if(NOT DEFINED tables_of_${table})
        set(tables_of_${table} 0)
      endif()
      set(section "${CMAKE_MATCH_1}.${tables_of_${table}}.")
      set(in_table TRUE)
      math(EXPR tables_of_${table} "${tables_of_${table}} + 1")
    elseif(line MATCHES "^\\[(${_toml_key_form}(\\.${_toml_key_form})*)\\] *(#.*)?$")
      set(section "${CMAKE_MATCH_1}.")
      set(in_table FALSE)
    elseif(line MATCHES "^(\"|\\]|\\}|\\{)")
      continue() # the inside or the end of a host-side array
    elseif(in_table)
      continue()
    else()
      message(FATAL_ERROR "${file}:${line_number} is neither `key = value` nor `[section]`: ${line}")
    endif()
  endforeach()
  set(code "set(\${prefix}/names [==[${names}]==] PARENT_SCOPE)\n")
  set(macros "")
  foreach(name IN LISTS names)
    string(APPEND code "set(\${prefix}.${name} [==[${value.${name}}]==] PARENT_SCOPE)\n"
      "set(\${prefix}/kind/${name} ${kind.${name}} PARENT_SCOPE)\n")
    if(kind.${name} STREQUAL "value")
      _toml_macro(line "${name}" "${value.${name}}")
      string(APPEND macros "${line}")
    endif()
  endforeach()
  file(WRITE "${out}" "${code}set(\${prefix}/macros [==[\n${macros}]==] PARENT_SCOPE)\n")
endfunction()

# A scalar key as a C macro: string values quoted, true/false as 1/0.
function(_toml_macro out name value)
  string(REGEX REPLACE "[.-]" "_" macro "${name}")
  string(TOUPPER "${macro}" macro)
  if(value STREQUAL "true")
    set(value 1)
  elseif(value STREQUAL "false")
    set(value 0)
  elseif(value MATCHES "^(0x[0-9A-Fa-f]+|[0-9]+)$")
    # No suffix: the same macro is used by C, by the assembler and for pasting names.
  else()
    set(value "\"${value}\"")
  endif()
  set(${out} "#define @_${macro} ${value}\n" PARENT_SCOPE)
endfunction()

macro(toml_get out prefix key)
  if(NOT DEFINED ${prefix}/kind/${key})
    message(FATAL_ERROR "${${prefix}/file} lacks the key `${key}`.")
  elseif("${${prefix}/kind/${key}}" STREQUAL "skipped")
    message(FATAL_ERROR "${${prefix}/file}, ${${prefix}.${key}}: `${key}` must be a string, an integer, true/false or a list of strings, on one line.")
  endif()
  set(${out} "${${prefix}.${key}}")
endmacro()

macro(toml_get_or out prefix key default)
  if(DEFINED ${prefix}/kind/${key})
    toml_get(${out} ${prefix} ${key})
  else()
    set(${out} "${default}")
  endif()
endmacro()

macro(toml_set prefix key value)
  toml_get(_toml_before ${prefix} ${key}) # an error if the file has no such key
  set(${prefix}.${key} "${value}")
  set_property(GLOBAL APPEND PROPERTY "toml_set/${prefix}" "${key}")
endmacro()

# The scalar keys as C macros, those that were replaced with the values they have where this is called.
function(toml_macros out prefix macro_prefix)
  set(text "${${prefix}/macros}")
  get_property(replaced GLOBAL PROPERTY "toml_set/${prefix}")
  list(REMOVE_DUPLICATES replaced)
  foreach(name IN LISTS replaced)
    _toml_macro(line "${name}" "${${prefix}.${name}}")
    string(REGEX MATCH "^#define [^ ]+ " begin "${line}")
    string(FIND "\n${text}" "\n${begin}" at)
    string(SUBSTRING "${text}" 0 ${at} before)
    string(SUBSTRING "${text}" ${at} -1 behind)
    string(STRIP "${line}" line)
    string(FIND "${behind}" "\n" at)
    string(SUBSTRING "${behind}" ${at} -1 behind)
    set(text "${before}${line}${behind}")
  endforeach()
  string(REPLACE "#define @_" "#define ${macro_prefix}_" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(toml_parts out prefix section)
  _toml_below(parts ${prefix} "${section}" "\\.([^.]+)\\..*")
  list(REMOVE_DUPLICATES parts)
  set(${out} "${parts}" PARENT_SCOPE)
endfunction()

function(toml_keys out prefix section)
  _toml_below(keys ${prefix} "${section}" "\\.(.+)")
  set(${out} "${keys}" PARENT_SCOPE)
endfunction()

# Of all names that begin with a section: what the form behind it holds in parentheses.
function(_toml_below out prefix section form)
  set(found "${${prefix}/names}")
  list(FILTER found INCLUDE REGEX "^${section}${form}$")
  list(TRANSFORM found REPLACE "^${section}${form}$" "\\1")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Writes every scalar key as a C macro. Written only when it changes.
function(toml_header prefix macro_prefix out_file)
  toml_macros(macros ${prefix} ${macro_prefix})
  set(text "/* Generated from a TOML file by CMake; edit that file instead. */\n#pragma once\n${macros}")
  file(CONFIGURE OUTPUT "${out_file}" CONTENT "${text}" @ONLY)
endfunction()
