//! Memory protection unit (ARMv7-M B3.5).

use super::attributes::{Attributes, Kind};
use super::core::{Core, Region};
use super::fault::Fault;

/// Kind of access.
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
const HFNMIENA: u32 = 1 << 1;
const PRIVDEFENA: u32 = 1 << 2;
/// RBAR.VALID: the write names its region.
const VALID: u32 = 1 << 4;
const EXECUTE_NEVER: u32 = 1 << 28;
/// RASR bits that exist.
const RASR_MASK: u32 = 0x173f_ff3f;

/// One region as it is programmed.
#[derive(Debug, Clone, Copy, Default)]
struct Programmed {
    /// RBAR's address bits.
    base: u32,
    rasr: u32,
}

impl Programmed {
    /// log2 of the size, or `None` if the region is off.
    fn log2_bytes(self) -> Option<u32> {
        (self.rasr & ENABLE != 0).then_some((self.rasr >> 1 & 0x1f) + 1)
    }

    /// Whether it decides about `address`: in range, subregion not switched off.
    fn covers(self, address: u32) -> bool {
        let Some(log2) = self.log2_bytes() else {
            return false;
        };
        let outside = u64::from(address ^ self.base) >> log2;
        let subregion = if log2 >= 8 { address >> (log2 - 3) & 7 } else { 0 };
        let off = log2 >= 8 && self.rasr >> 8 >> subregion & 1 != 0;
        outside == 0 && !off
    }

    /// AP and XN (table B3-15).
    fn permits(self, privileged: bool, access: Access) -> bool {
        let (read, write) = match (self.rasr >> 24 & 7, privileged) {
            (1, true) | (2, true) | (3, _) => (true, true),
            (2, false) | (5, true) | (6 | 7, _) => (true, false),
            // 0 is no access; 4 is unpredictable and gives none either.
            _ => (false, false),
        };
        match access {
            Access::Read => read,
            Access::Write => write,
            Access::Fetch => read && self.rasr & EXECUTE_NEVER == 0,
        }
    }
}

/// The unit's registers.
#[derive(Debug, Clone)]
pub struct Mpu {
    count: u32,
    ctrl: u32,
    number: u32,
    regions: [Programmed; 16],
}

impl Mpu {
    /// Reset state with so many regions, 0 for no MPU.
    pub fn new(count: u8) -> Mpu {
        Mpu { count: u32::from(count), ctrl: 0, number: 0, regions: [Programmed::default(); 16] }
    }

    /// MPU_CTRL.ENABLE: data accesses must be checked.
    #[inline(always)]
    pub fn enabled(&self) -> bool {
        self.ctrl & ENABLE != 0
    }

    /// Reads at an offset from 0xE000ED00.
    pub fn read(&self, offset: u32) -> u32 {
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

    /// Writes at an offset from 0xE000ED00.
    pub fn write(&mut self, offset: u32, value: u32) {
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

    /// The region that decides about an address: the highest number wins.
    fn region_of(&self, address: u32) -> Option<Programmed> {
        self.regions[..self.count as usize].iter().rev().copied().find(|region| region.covers(address))
    }
}

/// The private peripheral bus, which the MPU does not see.
fn is_private(address: u32) -> bool {
    address >> 20 == 0xe00
}

/// Whether the unit decides at all: on, and not bypassed by NMI, HardFault or FAULTMASK.
fn in_force(core: &Core) -> bool {
    core.mpu.enabled() && (core.mpu.ctrl & HFNMIENA != 0 || core.execution_priority() >= 0)
}

/// Whether the default memory map allows instruction fetches.
fn default_executes(address: u32) -> bool {
    matches!(address >> 29, 0 | 1 | 3 | 4)
}

fn permitted(core: &Core, address: u32, access: Access, privileged: bool) -> bool {
    if access == Access::Fetch && address >> 29 == 7 {
        return false;
    }
    if !in_force(core) || is_private(address) {
        return access != Access::Fetch || default_executes(address);
    }
    match core.mpu.region_of(address) {
        Some(region) => region.permits(privileged, access),
        None => core.mpu.ctrl & PRIVDEFENA != 0 && privileged && (access != Access::Fetch || default_executes(address)),
    }
}

/// Whether the access may be; the fault otherwise. Needed for data only while [`Mpu::enabled`].
pub fn check(core: &Core, address: u32, access: Access) -> Result<(), Fault> {
    let privileged = if access == Access::Fetch { core.privileged() } else { core.access_privileged() };
    check_as(core, address, access, privileged)
}

/// [`check`] with a privilege of the caller's, for lazy preservation.
pub fn check_as(core: &Core, address: u32, access: Access, privileged: bool) -> Result<(), Fault> {
    if permitted(core, address, access, privileged) {
        return Ok(());
    }
    Err(if access == Access::Fetch { Fault::FetchProtection } else { Fault::DataProtection(address) })
}

/// The fault of fetching from a [`Core::stray`] address.
pub fn stray_fault(core: &Core, address: u32) -> Fault {
    check(core, address, Access::Fetch).err().unwrap_or(Fault::FetchBus)
}

/// Memory attributes of an address as the core sees it now.
pub fn attributes(core: &Core, address: u32) -> Attributes {
    if in_force(core) && !is_private(address) {
        if let Some(region) = core.mpu.region_of(address) {
            return Attributes::of_region(region.rasr);
        }
    }
    Attributes::of_default_map(address)
}

/// Whether LDR, LDRH, STR or STRH may be unaligned at this address: not under CCR.UNALIGN_TRP, not on the private
/// peripheral bus, on the M7 not to Device or Strongly-ordered memory. (The M3 and M4 split them there as well.)
pub fn allows_unaligned(core: &Core, address: u32) -> bool {
    if core.scb.ccr & super::scb::ccr::UNALIGN_TRP != 0 || is_private(address) {
        return false;
    }
    !core.features.caches || attributes(core, address).kind == Kind::Normal
}

/// The part of `region` around `address` in which execution is allowed as it is at `address`, so that a branch out
/// of it is checked again.
pub fn executable_part(core: &Core, region: Region, address: u32) -> Region {
    if !in_force(core) {
        return region;
    }
    let (mut low, mut end) = (u64::from(region.base), u64::from(region.base) + u64::from(region.bytes));
    for programmed in &core.mpu.regions[..core.mpu.count as usize] {
        let Some(log2) = programmed.log2_bytes() else {
            continue;
        };
        // Permissions change at the borders of regions and of their eighths only.
        let step = if log2 >= 8 { 1_u64 << (log2 - 3) } else { 1 << log2 };
        let base = u64::from(programmed.base) >> log2 << log2;
        for border in (0..=8).map(|eighth| base + eighth * step).take_while(|border| *border <= base + (1 << log2)) {
            if border <= u64::from(address) {
                low = low.max(border);
            } else {
                end = end.min(border);
            }
        }
    }
    let skipped = (low - u64::from(region.base)) as usize / 2;
    Region {
        base: low as u32,
        bytes: (end - low) as u32,
        ops: region.ops.wrapping_add(skipped),
        profile: if region.profile.is_null() { region.profile } else { region.profile.wrapping_add(skipped) },
    }
}

#[cfg(test)]
mod tests;
