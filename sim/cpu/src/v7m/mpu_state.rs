//! Registers of the memory protection unit (ARMv7-M B3.5), and which region decides about an address.

/// The kind of an access that the MPU checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Data read.
    Read,
    /// Data write.
    Write,
    /// Instruction fetch.
    Fetch,
}

const ENABLE: u32 = 1 << 0;
pub(super) const HFNMIENA: u32 = 1 << 1;
pub(super) const PRIVDEFENA: u32 = 1 << 2;
/// RBAR.VALID: the write names its region.
const VALID: u32 = 1 << 4;
const EXECUTE_NEVER: u32 = 1 << 28;
/// RASR bits that exist.
const RASR_MASK: u32 = 0x173f_ff3f;

/// One region of the MPU as it is programmed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MpuRegion {
    /// RBAR's address bits.
    pub(super) base: u32,
    pub(super) rasr: u32,
}

impl MpuRegion {
    /// Returns log2 of the region's size, or `None` if the region is off.
    pub(super) fn log2_of_size(self) -> Option<u32> {
        (self.rasr & ENABLE != 0).then_some((self.rasr >> 1 & 0x1f) + 1)
    }

    /// Returns whether the region decides about `address`: in range, subregion not switched off.
    fn covers_address(self, address: u32) -> bool {
        let Some(log2) = self.log2_of_size() else {
            return false;
        };
        let outside = u64::from(address ^ self.base) >> log2;
        let subregion = if log2 >= 8 { address >> (log2 - 3) & 7 } else { 0 };
        let off = log2 >= 8 && self.rasr >> 8 >> subregion & 1 != 0;
        outside == 0 && !off
    }

    /// Returns whether the region's AP and XN permit an access (table B3-15).
    pub(super) fn permits_access(self, privileged: bool, access: Access) -> bool {
        let (read, write) = match (self.rasr >> 24 & 7, privileged) {
            (1, true) | (2, true) | (3, _) => (true, true),
            (2, false) | (5, true) | (6 | 7, _) => (true, false),
            // 0 is no access. 4 is unpredictable and gives none either.
            _ => (false, false),
        };
        match access {
            Access::Read => read,
            Access::Write => write,
            Access::Fetch => read && self.rasr & EXECUTE_NEVER == 0,
        }
    }
}

/// The registers of the memory protection unit.
#[derive(Debug, Clone)]
pub struct Mpu {
    pub(super) count: u32,
    pub(super) ctrl: u32,
    number: u32,
    pub(super) regions: [MpuRegion; 16],
}

impl Mpu {
    /// Creates an MPU with `count` regions in reset state, 0 for no MPU.
    pub fn new(count: u8) -> Mpu {
        Mpu { count: u32::from(count), ctrl: 0, number: 0, regions: [MpuRegion::default(); 16] }
    }

    /// Returns whether MPU_CTRL.ENABLE is set, so that data accesses must be checked.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        self.ctrl & ENABLE != 0
    }

    /// Reads an MPU register at an offset from 0xE000ED00.
    pub fn read_register(&self, offset: u32) -> u32 {
        let region = &self.regions[self.number as usize & 0xf];
        match offset {
            0x90 => self.count << 8,
            _ if self.count == 0 => 0,
            0x94 => self.ctrl,
            0x98 => self.number,
            0x9c | 0xa4 | 0xac | 0xb4 => region.base | self.number,
            0xa0 | 0xa8 | 0xb0 | 0xb8 => region.rasr,
            _ => 0,
        }
    }

    /// Writes an MPU register at an offset from 0xE000ED00.
    pub fn write_register(&mut self, offset: u32, value: u32) {
        if self.count == 0 {
            return;
        }
        match offset {
            0x94 => self.ctrl = value & (ENABLE | HFNMIENA | PRIVDEFENA),
            0x98 => self.number = (value & 0xff) % self.count,
            0x9c | 0xa4 | 0xac | 0xb4 => {
                if value & VALID != 0 {
                    self.number = (value & 0xf) % self.count;
                }
                self.regions[self.number as usize].base = value & !0x1f;
            }
            0xa0 | 0xa8 | 0xb0 | 0xb8 => self.regions[self.number as usize].rasr = value & RASR_MASK,
            _ => {}
        }
    }

    /// Returns the region that decides about an address: the highest number wins.
    pub(super) fn effective_mpu_region_of_address(&self, address: u32) -> Option<MpuRegion> {
        self.regions[..self.count as usize].iter().rev().copied().find(|region| region.covers_address(address))
    }
}
