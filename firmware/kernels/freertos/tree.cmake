# FreeRTOS of any version from a tree, with the kernel's own port for the board's core.
set(chip_include "${KERNEL_DIR}/cores/${BOARD_CPU}")
list(APPEND KERNEL_CONFIG_FOLDERS "${chip_include}")
find_file(header FreeRTOS.h PATHS ${TREE_HEADERS} REQUIRED NO_CACHE NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
list(APPEND KERNEL_CONFIG_FILES "${header}")
kernel_from_tree(freertos_kernel)
