//! The modelled boot ROM (RP2040 data sheet 2.7, 2.8).
//!
//! No byte of the real ROM is here. [`image`] builds 16 kB with the documented header and tables. Each documented
//! function is one `UDF #id` at its own address, which the machine turns into [`call_rom_function`]. Only core 1's
//! holding pen and the debug trampoline are Thumb code, because they interact with the FIFO and with events cycle by
//! cycle. Core 0's boot decisions are the machine's. [`is_boot_block_valid`] is the check it needs.

mod double;
mod float;
mod image;
mod memory;
#[cfg(test)]
mod tests;

pub use image::{CORE1_WAIT, DEAD_LOOP, DEBUG_TRAMPOLINE, ROM_BYTES, ROM_VERSION, boot_rom_content, stub_address};

/// The parts of the machine that a function of the boot ROM uses. Its accesses to memory take no time and never fault.
pub trait RomFunctionHost {
    /// Returns core register `n` (0 to 14).
    fn core_register(&self, n: usize) -> u32;
    /// Sets core register `n`.
    fn set_core_register(&mut self, n: usize, value: u32);
    /// Reads a byte.
    fn read_byte(&mut self, address: u32) -> u8;
    /// Reads an aligned word.
    fn read_word(&mut self, address: u32) -> u32;
    /// Writes a byte.
    fn write_byte(&mut self, address: u32, value: u8);
    /// Writes an aligned word.
    fn write_word(&mut self, address: u32, value: u32);
    /// Sets the condition flags, as the ROM's `*_cmp_fast_flags` functions do.
    fn set_flags(&mut self, n: bool, z: bool, c: bool, v: bool);
    /// Applies a command to the flash chip and its interface. See
    /// [`super::Rp2040Peripherals::execute_rom_flash_command`].
    fn run_flash_command(&mut self, command: FlashCommand);
}

/// A command of a flash function of the ROM to the flash chip (data sheet 2.8.3.1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlashCommand {
    /// `connect_internal_flash`: pads and SSI to their flash function.
    Connect,
    /// `flash_exit_xip`: serial mode.
    ExitXip,
    /// Erase `count` bytes from `offset` (both multiples of 4096).
    Erase {
        /// Byte offset in the flash.
        offset: u32,
        /// Number of bytes.
        count: u32,
    },
    /// Program `data` at `offset` (multiples of 256).
    Program {
        /// Byte offset in the flash.
        offset: u32,
        /// Bytes to program.
        data: Vec<u8>,
    },
    /// `flash_flush_cache`: invalidate the XIP cache and release the chip select override.
    FlushCache,
    /// `flash_enter_cmd_xip`: execute in place with plain serial reads.
    EnterXip,
}

/// The act of the machine after a ROM function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RomFunctionOutcome {
    /// Branch to LR after `cycles` clk_sys cycles.
    Return {
        /// Time inside the function.
        cycles: u32,
    },
    /// Branch to LR after `cycles` clk_sys cycles and `busy_us` microseconds of flash time.
    ReturnAfterFlash {
        /// Time inside the function, without the flash.
        cycles: u32,
        /// Time the flash is busy (typical values of the W25Q16JV's data sheet).
        busy_us: u64,
    },
    /// The firmware asked for the USB boot loader: there is no host, so the run ends here.
    EnterUsbBoot {
        /// R0: activity LED mask.
        gpio_mask: u32,
        /// R1: disabled interfaces.
        disable_mask: u32,
    },
    /// The reset vector was executed: the machine should have taken the boot decision itself.
    ColdBoot,
    /// No function has this id: treat the UDF as the undefined instruction it is.
    Undefined,
}

/// Function ids: the low byte of each stub.
pub mod id {
    #![allow(missing_docs, reason = "the names are the data sheet's function names")]
    pub const COLD_BOOT: u8 = 0x00;
    pub const TABLE_LOOKUP: u8 = 0x01;
    pub const POPCOUNT32: u8 = 0x02;
    pub const REVERSE32: u8 = 0x03;
    pub const CLZ32: u8 = 0x04;
    pub const CTZ32: u8 = 0x05;
    pub const MEMSET: u8 = 0x06;
    pub const MEMSET4: u8 = 0x07;
    pub const MEMCPY: u8 = 0x08;
    pub const MEMCPY44: u8 = 0x09;
    pub const RESET_TO_USB_BOOT: u8 = 0x0a;
    pub const CONNECT_INTERNAL_FLASH: u8 = 0x0b;
    pub const FLASH_EXIT_XIP: u8 = 0x0c;
    pub const FLASH_RANGE_ERASE: u8 = 0x0d;
    pub const FLASH_RANGE_PROGRAM: u8 = 0x0e;
    pub const FLASH_FLUSH_CACHE: u8 = 0x0f;
    pub const FLASH_ENTER_CMD_XIP: u8 = 0x10;
    /// First single-precision function. The others follow in the order of the table.
    pub const FLOAT: u8 = 0x40;
    /// First double-precision function.
    pub const DOUBLE: u8 = 0x60;
}

/// Functions in each of the soft-float tables.
pub const FLOAT_FUNCTIONS: u8 = 32;

/// Runs the ROM function `id`, which the core called. Arguments and results follow the procedure call standard.
/// Registers that it allows a function to spoil are left alone.
pub fn call_rom_function(id: u8, host: &mut dyn RomFunctionHost) -> RomFunctionOutcome {
    let cycles = match id {
        id::COLD_BOOT => return RomFunctionOutcome::ColdBoot,
        id::RESET_TO_USB_BOOT => {
            return RomFunctionOutcome::EnterUsbBoot {
                gpio_mask: host.core_register(0),
                disable_mask: host.core_register(1),
            };
        }
        id::TABLE_LOOKUP..=id::MEMCPY44 => memory::run_rom_memory_function(id, host),
        id::CONNECT_INTERNAL_FLASH..=id::FLASH_ENTER_CMD_XIP => return memory::run_flash_function(id, host),
        id::FLOAT..=0x5f => float::run_float_function(id - id::FLOAT, host),
        id::DOUBLE..=0x7f => double::run_rom_double_function(id - id::DOUBLE, host),
        _ => return RomFunctionOutcome::Undefined,
    };
    RomFunctionOutcome::Return { cycles }
}

/// Returns the CRC-32 by which the boot ROM checks boot2.
#[must_use]
pub fn second_stage_bootloader_crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte) << 24,
            |crc, _| {
                if crc >> 31 != 0 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 }
            },
        )
    })
}

/// Returns whether the first 256 bytes of `flash` are a second-stage boot loader with the right checksum.
#[must_use]
pub fn is_boot_block_valid(flash: &[u8]) -> bool {
    match flash.get(..256) {
        Some(block) => {
            let stored = u32::from_le_bytes([block[252], block[253], block[254], block[255]]);
            second_stage_bootloader_crc(&block[..252]) == stored
        }
        None => false,
    }
}
