# Defines how the kernel is built. If the kernel has source files, build them as the static library `kernel`:
#   add_library(kernel STATIC ${files}), target_compile_options(kernel PRIVATE ${BENCH_TARGET_FLAGS}),
#   PUBLIC include folders, and set(KERNEL_TARGETS kernel). firmware/kernels/rt is a short example.
# If users add the kernel's sources as a tree, kernel_from_tree(@SYMBOL@_kernel) makes the library. Link it to `kernel`,
#   name it in KERNEL_TARGETS, and do not set KERNEL_SOURCE_DIR. firmware/kernels/threadx is an example.
add_library(kernel INTERFACE)
target_include_directories(kernel INTERFACE "${KERNEL_DIR}/config")

set(KERNEL_SOURCE_DIR "${KERNEL_DIR}")
set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "@SYMBOL@_config.h")
set(KERNEL_CONFIG_PATTERN "@MACRO@_[A-Z_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/@SYMBOL@_config.h")
set(KERNEL_TARGETS "")
