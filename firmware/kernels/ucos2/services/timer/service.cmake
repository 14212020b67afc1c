# Most of what timers take (the task's stack, the timers themselves) is part of the memory that the board allows the kernel.
# os_cfg.h in this folder makes it the port's limit.
toml_get(allowed_bytes board limits.heap_bytes)
math(EXPR allowed_bytes "${allowed_bytes} - 512")
target_compile_definitions(image PRIVATE PORT_TIMER_HEAP_BYTES=${allowed_bytes})
