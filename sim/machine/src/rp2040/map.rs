//! The RP2040's memories and bus slaves (data sheet 2.1, 2.2, 2.6).

/// Bus slaves of the crossbar (RP2040 data sheet 2.1).
pub mod slave {
    /// First of the six SRAM banks.
    pub const SRAM0: usize = 0;
    /// First of the two unstriped banks.
    pub const SRAM4: usize = 4;
    /// XIP cache and flash.
    pub const XIP: usize = 6;
    /// Boot ROM.
    pub const ROM: usize = 7;
    /// APB bridge.
    pub const APB: usize = 8;
    /// Fast AHB-Lite peripherals.
    pub const FASTPERI: usize = 9;
}

/// Striped and unstriped SRAM together.
pub const SRAM_BYTES: u32 = 0x42000;
/// Bytes of SRAM that share a mark.
pub const MARKED: u32 = 256;
/// The part that is interleaved word by word.
pub const STRIPED_BYTES: u32 = 0x40000;
/// Base of the SRAM.
pub const SRAM_BASE: u32 = 0x2000_0000;
/// Base of the cached flash window.
pub const FLASH_BASE: u32 = 0x1000_0000;
/// The first digit of SIO's addresses.
pub const SIO: u32 = 0xd;
/// SIO's register that says which core reads it.
pub const CPUID: u32 = 0xd000_0000;
/// Boot ROM size.
pub const ROM_BYTES: u32 = 0x4000;

/// Returns the SRAM bank of an offset: words of the first 256 kB are striped over four banks.
#[inline(always)]
pub fn sram_bank_of(offset: u32) -> usize {
    if offset < 0x40000 { (offset >> 2 & 3) as usize } else { slave::SRAM4 + (offset >> 12 & 1) as usize }
}

/// Returns the striped storage's offset of a non-striped alias (0x21000000), and its bank.
pub fn unstriped_offset(address: u32) -> Option<(u32, usize)> {
    let offset = address.wrapping_sub(0x2100_0000);
    let bank = offset >> 16;
    (bank < 4).then(|| ((((offset & 0xffff) >> 2) * 4 + bank) * 4 + (offset & 3), bank as usize))
}
