# The tables of timers.
target_sources(image PRIVATE "${KERNEL_DIR}/services/timer/timer.c")
