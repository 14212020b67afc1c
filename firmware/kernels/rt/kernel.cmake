# Builds rt out of its package: C17 and one assembler file; nothing of it is built as Rust.
# In:  KERNEL_DIR (this folder), KERNEL_SOURCE_DIR (the package's folder), BENCH_TARGET_FLAGS, BENCH_GENERATED_DIR
# Out: target `kernel` to link; KERNEL_PORT_SOURCES (ours, compiled with the image);
#      KERNEL_CONFIG_HEADER, _PATTERN, _FILES and KERNEL_TARGETS for the recorded configuration.
file(GLOB rt_sources CONFIGURE_DEPENDS "${KERNEL_SOURCE_DIR}/src/*.c")
list(FILTER rt_sources EXCLUDE REGEX "/trace\\.c$") # for a trace log, which a measurement does without
add_library(rt_kernel STATIC EXCLUDE_FROM_ALL ${rt_sources}
  "${KERNEL_SOURCE_DIR}/arch/arm/arm.c" "${KERNEL_SOURCE_DIR}/arch/arm/syscall.S")
set_target_properties(rt_kernel PROPERTIES C_STANDARD 17)
target_include_directories(rt_kernel SYSTEM PUBLIC
  "${KERNEL_SOURCE_DIR}/include" "${KERNEL_SOURCE_DIR}/arch/arm/include")
target_include_directories(rt_kernel PUBLIC "${KERNEL_DIR}/config" "${BENCH_GENERATED_DIR}")
target_compile_options(rt_kernel PRIVATE ${BENCH_TARGET_FLAGS} "-ffile-prefix-map=${KERNEL_SOURCE_DIR}=kernel")
# Enumerations of its structures are as small as they can be, in every file that sees them.
target_compile_options(rt_kernel PUBLIC -fshort-enums "SHELL:-include ${KERNEL_DIR}/config/rt_config.h")

add_library(kernel INTERFACE)
target_link_libraries(kernel INTERFACE rt_kernel)

set(KERNEL_PORT_SOURCES "${KERNEL_DIR}/port.c")
set(KERNEL_CONFIG_HEADER "rt_config_probe.h")
set(KERNEL_CONFIG_PATTERN "RT_(ATOMIC_USE_BOOL_AS_FLAG|CYCLE_ENABLE|LOG_ENABLE|MPU_PRIV_SECTIONS_ENABLE|MPU_TASK_REGIONS_ENABLE|STACK_MIN|TASK_CYCLE_ENABLE|TASK_LOCAL_STORAGE_ENABLE|TASK_PRIORITY_MAX|TASK_READY_CTZ_ENABLE|TICK_RATE_HZ|TRACE_ENABLE)")
file(GLOB KERNEL_CONFIG_FILES CONFIGURE_DEPENDS "${KERNEL_DIR}/config/*.h" "${KERNEL_SOURCE_DIR}/include/rt/*.h"
  "${KERNEL_SOURCE_DIR}/arch/arm/include/rt/arch/stack.h")
set(KERNEL_TARGETS rt_kernel)
