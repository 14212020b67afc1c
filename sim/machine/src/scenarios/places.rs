//! Addresses at which something may go wrong: memories, their edges, registers, nothing.

use super::bytes::Bytes;

/// Returns the first address and length of each memory of a chip.
pub(crate) fn memory_ranges_of_chip(chip: &str) -> &'static [(u32, u32)] {
    match chip {
        "rp2040" => &[
            (0x2000_0000, 0x42000),
            (0x1000_0000, 0x20_0000),
            (0, 0x4000),
            (0x2100_0000, 0x40000),
            (0x1500_0000, 0x4000),
            (0x1300_0000, 0x100),
        ],
        "stm32l053" => &[(0x2000_0000, 0x2000), (0x0800_0000, 0x10000), (0, 0x10000), (0x0808_0000, 0x800)],
        "stm32l073" => &[(0x2000_0000, 0x5000), (0x0800_0000, 0x30000), (0, 0x30000), (0x0808_0000, 0x1800)],
        "stm32f103" => {
            &[(0x2000_0000, 0x5000), (0x0800_0000, 0x20000), (0, 0x20000), (0x1fff_f000, 0x800), (0x2200_0000, 0xa0000)]
        }
        "stm32f407" => &[
            (0x2000_0000, 0x20000),
            (0x0800_0000, 0x10_0000),
            (0, 0x10_0000),
            (0x1000_0000, 0x10000),
            (0x4002_4000, 0x1000),
            (0x2200_0000, 0x40_0000),
        ],
        "stm32f411" | "stm32f446" => &[
            (0x2000_0000, 0x20000),
            (0x0800_0000, 0x8_0000),
            (0, 0x8_0000),
            (0x1fff_0000, 0x7800),
            (0x1fff_7800, 0x210),
            (0x2200_0000, 0x40_0000),
        ],
        "stm32f767" => &[
            (0x2000_0000, 0x80000),
            (0x0800_0000, 0x20_0000),
            (0x0020_0000, 0x20_0000),
            (0, 0x4000),
            (0x1ff0_f000, 0x440),
            (0x4002_4000, 0x1000),
        ],
        _ => &[
            (0x2000_0000, 0x20000),
            (0x0800_0000, 0x20_0000),
            (0x2400_0000, 0x80000),
            (0x3000_0000, 0x48000),
            (0x1000_0000, 0x48000),
            (0x3800_0000, 0x10000),
            (0, 0x10000),
            (0x3880_0000, 0x1000),
        ],
    }
}

/// Returns the first addresses of a chip's register blocks, and how many kilobytes or, for the RP2040, 16 kB blocks
/// there are.
fn peripheral_register_blocks_of_chip(chip: &str) -> &'static [(u32, u32, u32)] {
    match chip {
        "rp2040" => &[
            (0x4000_0000, 0x4000, 0x1c),
            (0x5000_0000, 0x10_0000, 5),
            (0xd000_0000, 0x40, 5),
            (0x1400_0000, 0x40, 1),
            (0x1800_0000, 0x100, 1),
        ],
        "stm32h743" => &[
            (0x4000_0000, 0x400, 64),
            (0x4001_0000, 0x400, 64),
            (0x4002_0000, 0x400, 32),
            (0x5800_0000, 0x400, 160),
            (0x5200_0000, 0x1000, 10),
            (0x4802_0000, 0x400, 12),
        ],
        "stm32l053" | "stm32l073" => {
            &[(0x4000_0000, 0x400, 64), (0x4001_0000, 0x400, 64), (0x4002_0000, 0x400, 32), (0x5000_0000, 0x400, 8)]
        }
        _ => &[(0x4000_0000, 0x400, 64), (0x4001_0000, 0x400, 64), (0x4002_0000, 0x400, 64), (0x5000_0000, 0x400, 4)],
    }
}

/// Returns an address of any kind for this chip.
pub(crate) fn choose_fuzz_address_of_chip(chip: &str, bytes: &mut Bytes) -> u32 {
    match bytes.next_byte() % 16 {
        0..=4 => {
            let (base, step, count) = bytes.next_choice(peripheral_register_blocks_of_chip(chip));
            let block = u32::from(bytes.next_byte()) % count;
            // The RP2040's registers have aliases that set, clear and toggle.
            let alias = if chip == "rp2040" { u32::from(bytes.next_byte() & 3) << 12 } else { 0 };
            base + step * block + alias + 4 * u32::from(bytes.next_byte() & 0x3f)
        }
        5..=7 => core_register_address(bytes),
        8..=11 => {
            let (base, length) = bytes.next_choice(memory_ranges_of_chip(chip));
            base + u32::from(bytes.next_halfword()) % length
        }
        12..=14 => address_near_memory_boundary(chip, bytes),
        _ => bytes.next_word(),
    }
}

/// Returns an address around the end or the start of a memory.
pub(crate) fn address_near_memory_boundary(chip: &str, bytes: &mut Bytes) -> u32 {
    let (base, length) = bytes.next_choice(memory_ranges_of_chip(chip));
    let border = if bytes.next_byte().is_multiple_of(4) { base } else { base + length };
    border.wrapping_add(u32::from(bytes.next_byte() % 80)).wrapping_sub(40)
}

/// Returns the address of a register of the core: SCB, NVIC, SysTick, MPU, DWT, debug.
fn core_register_address(bytes: &mut Bytes) -> u32 {
    const BASES: [u32; 12] = [
        0xe000_e010,
        0xe000_e100,
        0xe000_e180,
        0xe000_e200,
        0xe000_e280,
        0xe000_e400,
        0xe000_ed00,
        0xe000_ed20,
        0xe000_ed90,
        0xe000_ef30,
        0xe000_1000,
        0xe004_2000,
    ];
    bytes.next_choice(&BASES) + 4 * u32::from(bytes.next_byte() & 15)
}
