//! Layout of the ROM image.

use super::{FLOAT_FUNCTIONS, id};

/// Size of the ROM.
pub const ROM_BYTES: usize = 16 * 1024;

/// ROM version at 0x13. Version 3 is the only one whose tables a program can use unchanged. For versions 1 and 2 the
/// pico-sdk patches missing functions in, checks code words at fixed ROM addresses, and jumps to undocumented
/// addresses inside the double-precision sine. A re-created ROM can offer none of these.
pub const ROM_VERSION: u8 = 3;

/// Core 1's holding pen: entered by the core with CPUID 1 after reset (data sheet 2.8.2).
pub const CORE1_WAIT: u32 = 0x20;
/// `wfi; b .-2`: where core 1 ends when its program returns, and the ROM's NMI and HardFault handler.
pub const DEAD_LOOP: u32 = CORE1_WAIT + 0x38;
/// Debug trampoline ('DT'): calls R7, then stops at a breakpoint.
pub const DEBUG_TRAMPOLINE: u32 = 0x90;
const DEBUG_TRAMPOLINE_END: u32 = DEBUG_TRAMPOLINE + 6;
const STUBS: u32 = 0x200;
const FUNCTION_TABLE: u32 = 0x300;
const DATA_TABLE: u32 = 0x380;
const COPYRIGHT: u32 = 0x3c0;
const GIT_REVISION: u32 = 0x3f8;
/// The float tables are preceded by a halfword with their number of entries.
const FLOAT_TABLE: u32 = 0x404;
const DOUBLE_TABLE: u32 = 0x488;
const LIBRARY_END: u32 = 0x508;
/// Stack pointer in the ROM's vector table: just below where boot2 is copied.
const ROM_STACK_TOP: u32 = 0x2004_1f00;

const COPYRIGHT_TEXT: &[u8] = b"rtoslab modelled RP2040 boot ROM\0";
/// Stands for no revision of the real ROM.
const REVISION: u32 = 0x7274_6f73;

/// Core 1's holding pen, written for this model after the protocol of data sheet 2.8.2: every word received is
/// echoed, a 0 (or a first word other than 1) starts over, and the pen itself opens with a 0.
const CORE1_CODE: [u16; 52] = [
    0x4c17, //          ldr  r4, =0xd0000000     SIO
    0x4f18, //          ldr  r7, =0xe000ed00     system control block
    0x2104, //          movs r1, #4
    0x6139, //          str  r1, [r7, #0x10]     SCR.SLEEPDEEP: full clock gating while waiting
    0x6da1, // discard: ldr  r1, [r4, #0x58]     FIFO_RD
    0x6d21, // restart: ldr  r1, [r4, #0x50]     FIFO_ST
    0x0849, //          lsrs r1, r1, #1          VLD into carry
    0xd2fb, //          bcs  discard
    0x2000, //          movs r0, #0
    0xf000, 0xf81a, //  bl   exchange            send 0, receive the command
    0x2801, //          cmp  r0, #1
    0xd1f7, //          bne  restart
    0xf000, 0xf816, //  bl   exchange            echo 1, receive VTOR
    0x60b8, //          str  r0, [r7, #8]
    0xf000, 0xf813, //  bl   exchange            echo VTOR, receive the stack pointer
    0xf380, 0x8808, //  msr  msp, r0
    0xf000, 0xf80f, //  bl   exchange            echo it, receive the entry
    0x4606, //          mov  r6, r0
    0xf000, 0xf806, //  bl   send                echo the entry
    0x2100, //          movs r1, #0
    0x6139, //          str  r1, [r7, #0x10]     SCR: SLEEPDEEP off
    0x47b0, //          blx  r6
    0xbf30, // dead:    wfi
    0xe7fd, //          b    dead
    0xbf20, // full:    wfe
    0x6d21, // send:    ldr  r1, [r4, #0x50]
    0x0889, //          lsrs r1, r1, #2          RDY into carry
    0xd3fb, //          bcc  full
    0x6560, //          str  r0, [r4, #0x54]     FIFO_WR
    0xbf40, //          sev
    0x4770, //          bx   lr
    0x46f0, // exchange: mov r8, lr
    0xf7ff, 0xfff7, //  bl   send
    0xbf20, // receive: wfe
    0x6d21, //          ldr  r1, [r4, #0x50]
    0x0849, //          lsrs r1, r1, #1
    0xd3fb, //          bcc  receive
    0x6da0, //          ldr  r0, [r4, #0x58]
    0x2800, //          cmp  r0, #0
    0xd0d5, //          beq  restart
    0x4740, //          bx   r8
    0x0000, 0xd000, //  literal 0xd0000000
    0xed00, 0xe000, //  literal 0xe000ed00
];

/// Sets bit 0 of R7 and calls it, then breaks.
const TRAMPOLINE_CODE: [u16; 5] = [
    0x2601, // movs r6, #1
    0x4337, // orrs r7, r6
    0x47b8, // blx  r7
    0xbe00, // bkpt #0
    0xe7fa, // b    trampoline
];

/// Returns the ROM address of the stub of function `id`.
#[must_use]
pub const fn stub_address(id: u8) -> u32 {
    STUBS + 2 * id as u32
}

/// Function table: two-letter code and address (data sheet 2.8.3.1).
const FUNCTIONS: [(&[u8; 2], u32); 18] = [
    (b"P3", stub_address(id::POPCOUNT32)),
    (b"R3", stub_address(id::REVERSE32)),
    (b"L3", stub_address(id::CLZ32)),
    (b"T3", stub_address(id::CTZ32)),
    (b"MS", stub_address(id::MEMSET)),
    (b"S4", stub_address(id::MEMSET4)),
    (b"MC", stub_address(id::MEMCPY)),
    (b"C4", stub_address(id::MEMCPY44)),
    (b"UB", stub_address(id::RESET_TO_USB_BOOT)),
    (b"DT", DEBUG_TRAMPOLINE),
    (b"DE", DEBUG_TRAMPOLINE_END),
    (b"WV", CORE1_WAIT),
    (b"IF", stub_address(id::CONNECT_INTERNAL_FLASH)),
    (b"EX", stub_address(id::FLASH_EXIT_XIP)),
    (b"RE", stub_address(id::FLASH_RANGE_ERASE)),
    (b"RP", stub_address(id::FLASH_RANGE_PROGRAM)),
    (b"FC", stub_address(id::FLASH_FLUSH_CACHE)),
    (b"CX", stub_address(id::FLASH_ENTER_CMD_XIP)),
];

/// Data table: two-letter code and address (data sheet 2.8.3.3).
const DATA: [(&[u8; 2], u32); 6] = [
    (b"CR", COPYRIGHT),
    (b"GR", GIT_REVISION),
    (b"SF", FLOAT_TABLE),
    (b"SD", DOUBLE_TABLE),
    (b"FS", FLOAT_TABLE),
    (b"FE", LIBRARY_END),
];

/// A builder of the ROM's content. In debug builds it refuses data that overlap.
struct RomImageBuilder(Vec<u8>);

impl RomImageBuilder {
    /// Writes bytes at an address of the ROM.
    fn write_bytes(&mut self, address: u32, bytes: &[u8]) {
        let start = address as usize;
        let target = &mut self.0[start..start + bytes.len()];
        debug_assert!(target.iter().all(|&byte| byte == 0), "ROM layout overlaps at {address:#x}");
        target.copy_from_slice(bytes);
    }

    /// Writes a halfword at an address of the ROM.
    fn write_halfword(&mut self, address: u32, value: u16) {
        self.write_bytes(address, &value.to_le_bytes());
    }

    /// Writes a word at an address of the ROM.
    fn write_word(&mut self, address: u32, value: u32) {
        self.write_bytes(address, &value.to_le_bytes());
    }

    /// Writes opcodes at an address of the ROM.
    fn write_rom_opcodes(&mut self, address: u32, code: &[u16]) {
        for (n, &half) in (0..).zip(code) {
            self.write_halfword(address + 2 * n, half);
        }
    }

    /// Writes a table of codes and half-pointers. The zeroed memory after them is the end mark.
    fn write_boot_rom_lookup_table(&mut self, address: u32, entries: &[(&[u8; 2], u32)], thumb: u32) {
        for (n, (code, pointer)) in (0..).zip(entries) {
            self.write_bytes(address + 4 * n, *code);
            self.write_halfword(address + 4 * n + 2, (pointer | thumb) as u16);
        }
    }

    /// Writes a table of the addresses of all floating-point functions, and their number before it.
    fn write_float_function_table(&mut self, address: u32, first: u8) {
        self.write_halfword(address - 2, u16::from(FLOAT_FUNCTIONS));
        for n in 0..FLOAT_FUNCTIONS {
            self.write_word(address + 4 * u32::from(n), stub_address(first + n) | 1);
        }
    }
}

/// Returns the content of the 16 kB boot ROM.
#[must_use]
pub fn boot_rom_content() -> Vec<u8> {
    let mut rom = RomImageBuilder(vec![0; ROM_BYTES]);
    let vectors = [ROM_STACK_TOP, stub_address(id::COLD_BOOT) | 1, DEAD_LOOP | 1, DEAD_LOOP | 1];
    for (n, vector) in (0..).zip(vectors) {
        rom.write_word(4 * n, vector);
    }
    rom.write_bytes(0x10, &[b'M', b'u', 1, ROM_VERSION]);
    rom.write_halfword(0x14, FUNCTION_TABLE as u16);
    rom.write_halfword(0x16, DATA_TABLE as u16);
    rom.write_halfword(0x18, (stub_address(id::TABLE_LOOKUP) | 1) as u16);
    rom.write_rom_opcodes(CORE1_WAIT, &CORE1_CODE);
    rom.write_rom_opcodes(DEBUG_TRAMPOLINE, &TRAMPOLINE_CODE);
    for id in 0..0x80 {
        rom.write_halfword(stub_address(id), 0xde00 | u16::from(id));
    }
    rom.write_boot_rom_lookup_table(FUNCTION_TABLE, &FUNCTIONS, 1);
    rom.write_boot_rom_lookup_table(DATA_TABLE, &DATA, 0);
    rom.write_bytes(COPYRIGHT, COPYRIGHT_TEXT);
    rom.write_word(GIT_REVISION, REVISION);
    rom.write_float_function_table(FLOAT_TABLE, id::FLOAT);
    rom.write_float_function_table(DOUBLE_TABLE, id::DOUBLE);
    rom.0
}
