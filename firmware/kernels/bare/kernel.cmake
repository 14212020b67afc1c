# Nothing to fetch and nothing to link: all there is lies here and is compiled with the image.
add_library(kernel INTERFACE)
target_include_directories(kernel INTERFACE "${KERNEL_DIR}/config")

set(KERNEL_SOURCE_DIR "${KERNEL_DIR}")
set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c" "${KERNEL_DIR}/pointers.c")
set(KERNEL_CONFIG_HEADER "bare_config.h")
set(KERNEL_CONFIG_PATTERN "BARE_[A-Z_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/bare_config.h")
set(KERNEL_TARGETS "")
