# FreeRTOS of any version from a tree, with the kernel's own port for the board's core.
set(chip_include "${KERNEL_DIR}/cores/${BOARD_CPU}")
list(APPEND KERNEL_CONFIG_FOLDERS "${chip_include}")
find_file(header FreeRTOS.h PATHS ${TREE_HEADERS} REQUIRED NO_CACHE NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
list(APPEND KERNEL_CONFIG_FILES "${header}")

# In the order of the package's own CMakeLists, so that one version's code lies at the same addresses, and takes the same
# time, from wherever it comes: the core's files, the kernel's, the heap.
foreach(file IN LISTS TREE_SOURCES)
  get_filename_component(folder "${file}" DIRECTORY)
  if(EXISTS "${folder}/portmacro.h")
    list(APPEND core_files "${file}")
  elseif(file MATCHES "/heap_[^/]*$")
    list(APPEND heap_files "${file}")
  else()
    list(APPEND kernel_files "${file}")
  endif()
endforeach()
set(TREE_SOURCES ${core_files} ${kernel_files} ${heap_files})
kernel_from_tree(freertos_kernel)
