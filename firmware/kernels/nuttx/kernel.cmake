# Links the libraries of an export: what NuttX's own build made of the configuration in config/ (`rtoslab kernel files`).
# NuttX owns start-up, vectors and linker script; its libraries are as they are, so nothing here can change them.
# In:  KERNEL_DIR (this folder), the export by tree_read: KERNEL_SOURCE_DIR, TREE_SOURCES, TREE_HEADERS
# Out: target `kernel` to link; KERNEL_PORT_SOURCES; LINKER_SCRIPT; what build_info records of the configuration.
if(NOT CODE STREQUAL "flash" OR LTO OR NOT "$CACHE{DATA}" STREQUAL "")
  message(FATAL_ERROR "n/a: an export of NuttX is linked as NuttX has it: code in flash, data where its script says, no LTO.")
endif()
set(DATA "kernel") # for the record: not one of the board's choices
file(STRINGS "${KERNEL_SOURCE_DIR}/.config" optimisation REGEX "^CONFIG_DEBUG_OPTLEVEL=")
if(NOT optimisation STREQUAL "CONFIG_DEBUG_OPTLEVEL=\"${OPT}\"")
  message(FATAL_ERROR "n/a: the export of kernel ${KERNEL_ID} was made with ${optimisation}, not for ${OPT}.")
endif()

set(nuttx_libraries ${TREE_SOURCES})
list(FILTER nuttx_libraries INCLUDE REGEX "\\.a$")
add_library(kernel INTERFACE)
target_include_directories(kernel SYSTEM INTERFACE ${TREE_HEADERS})
target_compile_definitions(kernel INTERFACE __NuttX__)
foreach(name IN LISTS TREE_ABSENT) # what the version has not yet, for the port
  target_compile_definitions(kernel INTERFACE "NUTTX_WITHOUT_${name}")
endforeach()
# Or the compiler removes a pair of malloc and free as if nobody could see it; and a handler's last call must come back to
# the handler: one that returned to NuttX's dispatcher instead, the virtual board would not see end.
target_compile_options(kernel INTERFACE -fno-builtin-malloc -fno-builtin-free -fno-optimize-sibling-calls)
target_link_options(kernel INTERFACE -nodefaultlibs -Wl,--entry=__start -Wl,--no-warn-rwx-segments)
target_link_libraries(kernel INTERFACE -Wl,--start-group ${nuttx_libraries} -lgcc -Wl,--end-group)

# NuttX's script for this board, and what our images have besides.
file(STRINGS "${KERNEL_SOURCE_DIR}/scripts/Make.defs" script_name REGEX "^LDNAME *=")
string(REGEX REPLACE "^LDNAME *= *" "" script_name "${script_name}")
kernel_script("${KERNEL_SOURCE_DIR}/scripts/${script_name}")

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "nuttx/config.h")
set(KERNEL_CONFIG_PATTERN "CONFIG_[A-Z0-9_]+")
set(KERNEL_CONFIG_FILES "")
set(KERNEL_TARGETS "")
