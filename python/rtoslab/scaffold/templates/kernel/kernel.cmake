# How the kernel is built. A kernel with sources of its own makes `kernel` a static library of them:
#   add_library(kernel STATIC ${files}), target_compile_options(kernel PRIVATE ${BENCH_TARGET_FLAGS}),
#   and its include folders PUBLIC; set(KERNEL_TARGETS kernel). firmware/kernels/rt is a short example.
# Of a kernel that its user names as a tree, kernel_from_tree(@SYMBOL@_kernel) makes the library: link it to `kernel`, name
#   it in KERNEL_TARGETS, and leave KERNEL_SOURCE_DIR to it. firmware/kernels/threadx is an example.
add_library(kernel INTERFACE)
target_include_directories(kernel INTERFACE "${KERNEL_DIR}/config")

set(KERNEL_SOURCE_DIR "${KERNEL_DIR}")
set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "@SYMBOL@_config.h")
set(KERNEL_CONFIG_PATTERN "@MACRO@_[A-Z_]+")
set(KERNEL_CONFIG_FILES "${KERNEL_DIR}/config/@SYMBOL@_config.h")
set(KERNEL_TARGETS "")
