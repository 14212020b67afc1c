# The timer task, its stack and its queue are part of the memory that the board allows the kernel.
target_compile_definitions(image PRIVATE PIECES_ELSEWHERE_BYTES=512)
