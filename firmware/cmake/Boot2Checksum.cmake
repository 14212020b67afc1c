# cmake -DIN=boot2.bin -DOUT=boot2_block.S -P Boot2Checksum.cmake
# Pads the second-stage boot code to 252 bytes and appends the CRC-32 the RP2040 boot ROM checks (polynomial
# 0x04c11db7, initial value all ones, not reflected, no final inversion), as assembler source. Pure CMake: a build of
# the firmware needs neither Python nor a host compiler.
cmake_minimum_required(VERSION 3.25)
file(READ "${IN}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
if(bytes GREATER 252)
  message(FATAL_ERROR "The second-stage boot code has ${bytes} bytes; the boot ROM loads 252.")
endif()
while(digits LESS 504)
  string(APPEND hex "00")
  math(EXPR digits "${digits} + 2")
endwhile()

set(crc 0xFFFFFFFF)
set(words "")
foreach(index RANGE 0 251)
  math(EXPR at "${index} * 2")
  string(SUBSTRING "${hex}" ${at} 2 byte)
  string(APPEND words ".byte 0x${byte}\n")
  math(EXPR crc "${crc} ^ (0x${byte} << 24)")
  foreach(bit RANGE 1 8)
    math(EXPR crc "((${crc} << 1) ^ (((${crc} >> 31) & 1) * 0x04C11DB7)) & 0xFFFFFFFF")
  endforeach()
endforeach()
math(EXPR crc "${crc}" OUTPUT_FORMAT HEXADECIMAL)
file(WRITE "${OUT}" "/* Generated: boot2.S padded to 252 bytes, then its CRC-32. */\n"
  ".section .boot2, \"a\", %progbits\n.global boot2_block\nboot2_block:\n${words}.word ${crc}\n")
