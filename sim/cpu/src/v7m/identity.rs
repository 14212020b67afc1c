//! The identification of a core: feature registers, floating-point media registers (ARMv7-M B4, B3.2).

use super::features::Features;

/// ID_PFR0 to ID_ISAR4 at 0xE000ED40. The M7's are as other models have them too. The M3's and M4's ISARs are
/// unverified.
const CORTEX_M3: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0,
    0x0000_0030,
    0,
    0x0100_0000,
    0,
    0x0110_0110,
    0x0211_1000,
    0x2111_2231,
    0x0111_1110,
    0x0131_0102,
];
const CORTEX_M4: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0,
    0x0000_0030,
    0,
    0x0100_0000,
    0,
    0x0114_1110,
    0x0211_2000,
    0x2123_2231,
    0x0111_1131,
    0x0131_0102,
];
const CORTEX_M7: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0,
    0x0010_0030,
    0,
    0x0100_0000,
    0,
    0x0110_1110,
    0x0211_2000,
    0x2023_2231,
    0x0111_1131,
    0x0131_0132,
];

/// Returns the feature register at an offset from 0xE000E000. `None` at other offsets.
pub fn read_register(features: &Features, offset: u32) -> Option<u32> {
    match offset {
        0xd40..=0xd70 => {
            let table = match features.cpuid >> 4 & 0xf {
                3 => &CORTEX_M3,
                4 => &CORTEX_M4,
                _ => &CORTEX_M7,
            };
            Some(table[(offset as usize - 0xd40) / 4])
        }
        0xd74 => Some(0),
        0xf40 => Some(media_feature_register_value(features, 0x1011_0021, 0x1011_0221)),
        0xf44 => Some(media_feature_register_value(features, 0x1100_0011, 0x1200_0011)),
        0xf48 => Some(if features.caches { 0x40 } else { 0 }),
        _ => None,
    }
}

/// Returns the value of a media feature register (MVFR): 0 without FPU, else that of single or double precision.
fn media_feature_register_value(features: &Features, single: u32, double: u32) -> u32 {
    match (features.float, features.double) {
        (false, _) => 0,
        (_, false) => single,
        _ => double,
    }
}
