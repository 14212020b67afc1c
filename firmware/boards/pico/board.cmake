# The second-stage boot block: compiled on its own, cut to its bytes, padded and signed with the boot ROM's CRC.
if(KERNEL_BOOT_BLOCK) # the kernel's libraries hold one
  return()
endif()
toml_get(flash_clock_divider board memory.flash_clock_divider)
add_library(boot2_code OBJECT "${FIRMWARE_DIR}/boards/${BOARD}/boot2.S")
target_compile_options(boot2_code PRIVATE ${gcc_flags} "-DFLASH_CLOCK_DIVIDER=${flash_clock_divider}")
add_custom_command(
  OUTPUT "${CMAKE_BINARY_DIR}/boot2_block.S"
  COMMAND "${CMAKE_OBJCOPY}" -O binary -j .text $<TARGET_OBJECTS:boot2_code> "${CMAKE_BINARY_DIR}/boot2.bin"
  COMMAND "${CMAKE_COMMAND}" "-DIN=${CMAKE_BINARY_DIR}/boot2.bin" "-DOUT=${CMAKE_BINARY_DIR}/boot2_block.S"
          -P "${FIRMWARE_DIR}/cmake/Boot2Checksum.cmake"
  DEPENDS $<TARGET_OBJECTS:boot2_code> "${FIRMWARE_DIR}/cmake/Boot2Checksum.cmake"
  COMMENT "Signing the boot block" VERBATIM)
target_sources(image PRIVATE "${CMAKE_BINARY_DIR}/boot2_block.S")
