# The objects of a benchmark with broadcasts are part of the memory that the board allows the kernel.
target_compile_definitions(image PRIVATE PIECES_ELSEWHERE_BYTES=512)
