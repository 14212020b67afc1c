//! The two chips as data: which memory is where (DS10152, DS10685, RM0367 2.2).

use rtoslab_periph::stm32::Chip;

/// The kind of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Main flash.
    Flash,
    /// Data EEPROM, served by the flash interface too.
    Eeprom,
    /// RAM.
    Ram,
}

/// A memory of the chip.
#[derive(Debug, Clone, Copy)]
pub struct MemorySpec {
    /// The kind.
    pub kind: Kind,
    /// Its length, a multiple of 16.
    pub bytes: u32,
}

/// A range of addresses at which a memory is visible.
#[derive(Debug, Clone, Copy)]
pub struct AddressWindowSpec {
    /// First address.
    pub base: u32,
    /// Length.
    pub bytes: u32,
    /// Index of the memory.
    pub memory: usize,
    /// Reads go through the flash interface.
    pub flash: bool,
    /// Instructions can be fetched from it.
    pub code: bool,
    /// Shown only while SYSCFG's choice of the memory at address 0 is this.
    pub remap: Option<u32>,
}

/// First address of the flash.
pub const FLASH_BASE: u32 = 0x0800_0000;
/// First address of the RAM.
pub const RAM_BASE: u32 = 0x2000_0000;
/// Boot loader, factory words and option bytes: first address and end.
pub const SYSTEM_MEMORY: (u32, u32) = (0x1ff0_0000, 0x1ff8_0100);
const EEPROM_BASE: u32 = 0x0808_0000;

/// Returns the memories of a chip, in the order flash, RAM, EEPROM, and the windows (address ranges) at which they are
/// visible.
pub fn memories_and_address_windows_of_chip(chip: Chip) -> ([MemorySpec; 3], [AddressWindowSpec; 5]) {
    let kilobytes = if chip == Chip::L053 { [64, 8, 2] } else { [192, 20, 6] };
    let [flash, ram, eeprom] = kilobytes.map(|size| size << 10);
    let memories = [
        MemorySpec { kind: Kind::Flash, bytes: flash },
        MemorySpec { kind: Kind::Ram, bytes: ram },
        MemorySpec { kind: Kind::Eeprom, bytes: eeprom },
    ];
    let window = |base, memory: usize, remap| AddressWindowSpec {
        base,
        bytes: memories[memory].bytes,
        memory,
        flash: memory != 1,
        code: memory != 2,
        remap,
    };
    let windows = [
        window(FLASH_BASE, 0, None),
        window(RAM_BASE, 1, None),
        window(0, 0, Some(0)),
        window(0, 1, Some(3)),
        window(EEPROM_BASE, 2, None),
    ];
    (memories, windows)
}
