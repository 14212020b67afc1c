/* Core 1's finished image, bytes as they lie in flash: linked for their place already. */
    .section .core1, "a", %progbits
    .incbin "core1.bin"
