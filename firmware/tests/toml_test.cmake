# Toml.cmake: what it reads, what it leaves to the host, what it refuses. Run by ctest.
cmake_minimum_required(VERSION 3.25)
list(APPEND CMAKE_MODULE_PATH "${MODULE_DIR}")

function(expect_equal what got wanted)
  if(NOT "${got}" STREQUAL "${wanted}")
    message(FATAL_ERROR "${what}: `${got}` instead of `${wanted}`")
  endif()
endfunction()

# A script that includes Toml.cmake, reads text and runs a line; fails the test unless it ends as asked.
function(expect_failure what text line pattern)
  file(WRITE "${WORK}/bad.toml" "${text}")
  file(WRITE "${WORK}/bad.cmake" "cmake_minimum_required(VERSION 3.25)\ninclude(\"${MODULE_DIR}/Toml.cmake\")\ntoml_read(t \"${WORK}/bad.toml\")\n${line}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -P "${WORK}/bad.cmake" RESULT_VARIABLE result ERROR_VARIABLE complaint
    OUTPUT_QUIET)
  string(REGEX REPLACE "[ \n]+" " " complaint "${complaint}")
  if(result EQUAL 0 OR NOT complaint MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: ended with ${result} and said `${complaint}`")
  endif()
endfunction()

file(MAKE_DIRECTORY "${WORK}")
file(WRITE "${WORK}/good.toml" [==[
# comment; with [brackets and "quotes
top = "a text; with = and # inside" # and a comment
[numbers]
small = 1
grouped = 1_000_000
hex = 0xE48B_FF56
yes = true
list = ["one", "two_2"]
host = [1, 2.5]
[[proof]]
rule = "not for us"
odd line that only a host parser would judge
[[proof]]
rule = "the second"
half = 0.5
[after]
key = "seen"
[choice.8000] # with a comment
value = 1
[choice.96000]
value = 2
]==])
include(Toml)
toml_read(t "${WORK}/good.toml")
toml_get(value t top)
expect_equal("text" "${value}" "a text; with = and # inside")
toml_get(value t numbers.grouped)
expect_equal("grouped" "${value}" "1000000")
toml_get(value t numbers.hex)
expect_equal("hex" "${value}" "0xE48BFF56")
toml_get(value t numbers.list)
expect_equal("list" "${value}" "one;two_2")
toml_get(value t after.key)
expect_equal("section after a table array" "${value}" "seen")
toml_get(value t choice.96000.value)
expect_equal("section with a dot" "${value}" "2")
toml_parts(parts t choice)
expect_equal("parts" "${parts}" "8000;96000")
toml_get(value t proof.1.rule)
expect_equal("second table of an array" "${value}" "the second")
toml_parts(parts t proof)
expect_equal("tables of an array" "${parts}" "0;1")
toml_get_or(value t numbers.none 7)
expect_equal("default" "${value}" "7")
toml_get_or(value t numbers.small 7)
expect_equal("no default" "${value}" "1")
toml_set(t numbers.small 5)
toml_get(value t numbers.small)
expect_equal("replaced" "${value}" "5")
toml_keys(keys t numbers)
expect_equal("keys" "${keys}" "small;grouped;hex;yes;list;host")
toml_header(t X "${WORK}/x.h")
file(READ "${WORK}/x.h" header)
if(NOT header MATCHES "#define X_NUMBERS_YES 1\n" OR NOT header MATCHES "#define X_AFTER_KEY \"seen\"\n")
  message(FATAL_ERROR "header: ${header}")
endif()
if(NOT header MATCHES "#define X_NUMBERS_SMALL 5\n" OR header MATCHES "#define X_NUMBERS_SMALL 1\n")
  message(FATAL_ERROR "replaced in the header: ${header}")
endif()
toml_set(t top "true")
toml_set(t choice.96000.value 7)
toml_set(t choice.96000.value 8)
toml_header(t X "${WORK}/y.h")
string(REGEX REPLACE "X_TOP [^\n]*" "X_TOP 1" header "${header}")
string(REPLACE "X_CHOICE_96000_VALUE 2" "X_CHOICE_96000_VALUE 8" header "${header}")
file(READ "${WORK}/y.h" replaced)
expect_equal("first and last key replaced" "${replaced}" "${header}")

expect_failure("missing key" "a = 1\n" "toml_get(v t b)" "lacks the key `b`")
expect_failure("set what is not there" "a = 1\n" "toml_set(t b 2)" "lacks the key `b`")
expect_failure("host-side value" "[s]\na = [1, 2]\n" "toml_get(v t s.a)" "line 2: `s.a` must be")
expect_failure("host-side value in a table" "[[s]]\na = 0.5\n" "toml_get(v t s.0.a)" "line 2: `s.0.a` must be")
expect_failure("no key and no section" "a 1\n" "" "bad.toml:1 is neither")
message("ok")
