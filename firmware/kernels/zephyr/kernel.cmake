# Links an export of Zephyr: what its own build made of the application that `rtoslab kernel files` writes. Zephyr owns
# start-up, vectors and linker script; its libraries are as they are, so nothing here can change them.
# In:  KERNEL_DIR (this folder), the export by tree_read: KERNEL_SOURCE_DIR, TREE_SOURCES, TREE_HEADERS
# Out: target `kernel` to link; KERNEL_PORT_SOURCES; LINKER_SCRIPT; what build_info records of the configuration.
if(NOT CODE STREQUAL "flash" OR LTO OR NOT "$CACHE{DATA}" STREQUAL "")
  message(FATAL_ERROR "n/a: an export of Zephyr is linked as Zephyr has it: code in flash, data where its script says, no LTO.")
endif()
set(DATA "kernel") # for the record: not one of the board's choices
file(STRINGS "${KERNEL_SOURCE_DIR}/.config" optimisation REGEX "^CONFIG_COMPILER_OPT=")
if(NOT optimisation STREQUAL "CONFIG_COMPILER_OPT=\"${OPT}\"")
  message(FATAL_ERROR "n/a: the export of kernel ${KERNEL_ID} was made with ${optimisation}, not for ${OPT}.")
endif()

# Of Zephyr's own parts every object is linked, of the kernel what is called, as its build does.
set(zephyr_whole ${TREE_SOURCES})
list(FILTER zephyr_whole INCLUDE REGEX "/whole/")
set(zephyr_libraries ${TREE_SOURCES})
list(FILTER zephyr_libraries INCLUDE REGEX "/libs/")
set(zephyr_objects ${TREE_SOURCES})
list(FILTER zephyr_objects INCLUDE REGEX "/objects/")
file(STRINGS "${KERNEL_SOURCE_DIR}/definitions.txt" zephyr_definitions)

add_library(kernel INTERFACE)
target_include_directories(kernel SYSTEM INTERFACE ${TREE_HEADERS})
target_compile_definitions(kernel INTERFACE ${zephyr_definitions})
foreach(name IN LISTS TREE_ABSENT) # what the version has not yet, for the port
  target_compile_definitions(kernel INTERFACE "ZEPHYR_WITHOUT_${name}")
endforeach()
# A handler's last call must come back to the handler: one that returned to Zephyr's entry code instead, the virtual board
# would not see end.
target_compile_options(kernel INTERFACE -imacros "${KERNEL_SOURCE_DIR}/include/autoconf.h" -fno-optimize-sibling-calls)
target_link_options(kernel INTERFACE -nodefaultlibs -Wl,-u,_OffsetAbsSyms -Wl,--sort-common=descending
  -Wl,--sort-section=alignment -Wl,--no-warn-rwx-segments)
target_link_libraries(kernel INTERFACE ${zephyr_objects} -Wl,--whole-archive ${zephyr_whole} -Wl,--no-whole-archive
  -Wl,--start-group ${zephyr_libraries} -lgcc -Wl,--end-group)

# Zephyr's script for this board, and what our images have besides.
kernel_script("${KERNEL_SOURCE_DIR}/scripts/zephyr.ld")

set(KERNEL_BOOT_BLOCK TRUE) # where a chip wants one, Zephyr's own is linked
set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "autoconf.h")
set(KERNEL_CONFIG_PATTERN "CONFIG_[A-Z0-9_]+")
set(KERNEL_CONFIG_FILES "")
set(KERNEL_TARGETS "")
