//! Memory protection (ARMv7-M B3.5): what a core may access, by the state of its MPU.

use super::attributes::{Kind, MemoryAttributes};
use super::core::{Core, Region};
use super::fault::Fault;

pub use super::mpu_state::{Access, Mpu};
use super::mpu_state::{HFNMIENA, PRIVDEFENA};

/// Returns whether an address is on the private peripheral bus, which the MPU does not protect.
fn is_private_bus_address(address: u32) -> bool {
    address >> 20 == 0xe00
}

/// Returns whether the MPU protects memory now: it is on, and not bypassed by NMI, HardFault or FAULTMASK.
fn is_mpu_in_force(core: &Core) -> bool {
    core.mpu.is_enabled() && (core.mpu.ctrl & HFNMIENA != 0 || core.execution_priority() >= 0)
}

/// Returns whether the default memory map allows instruction fetches.
fn is_executable_by_default(address: u32) -> bool {
    matches!(address >> 29, 0 | 1 | 3 | 4)
}

/// Returns whether the MPU, or else the default map, permits this access with this privilege.
fn is_access_permitted(core: &Core, address: u32, access: Access, privileged: bool) -> bool {
    if access == Access::Fetch && address >> 29 == 7 {
        return false;
    }
    if !is_mpu_in_force(core) || is_private_bus_address(address) {
        return access != Access::Fetch || is_executable_by_default(address);
    }
    match core.mpu.effective_mpu_region_of_address(address) {
        Some(region) => region.permits_access(privileged, access),
        None => {
            core.mpu.ctrl & PRIVDEFENA != 0
                && privileged
                && (access != Access::Fetch || is_executable_by_default(address))
        }
    }
}

/// Checks whether the MPU permits an access of the current code. The error is its fault. Needed for data only while
/// `Mpu::enabled`.
pub fn check_mpu_access_permission(core: &Core, address: u32, access: Access) -> Result<(), Fault> {
    let privileged = if access == Access::Fetch { core.is_privileged() } else { core.is_access_privileged() };
    check_access_with_privilege(core, address, access, privileged)
}

/// Checks whether the MPU permits an access with the given privilege, as lazy preservation needs it.
pub fn check_access_with_privilege(core: &Core, address: u32, access: Access, privileged: bool) -> Result<(), Fault> {
    if is_access_permitted(core, address, access, privileged) {
        return Ok(());
    }
    Err(if access == Access::Fetch { Fault::FetchProtection } else { Fault::DataProtection(address) })
}

/// Returns the fault of fetching an instruction from `address`, at which nothing can execute ([`Core::stray`]).
pub fn stray_fetch_fault(core: &Core, address: u32) -> Fault {
    check_mpu_access_permission(core, address, Access::Fetch).err().unwrap_or(Fault::FetchBus)
}

/// Returns the memory attributes of an address as the core sees it now.
pub fn memory_attributes(core: &Core, address: u32) -> MemoryAttributes {
    if is_mpu_in_force(core)
        && !is_private_bus_address(address)
        && let Some(region) = core.mpu.effective_mpu_region_of_address(address)
    {
        return MemoryAttributes::from_mpu_region(region.rasr);
    }
    MemoryAttributes::from_default_memory_map(address)
}

/// Returns whether LDR, LDRH, STR or STRH may be unaligned at this address. (The M3 and M4 split them there as well.)
pub fn allows_unaligned(core: &Core, address: u32) -> bool {
    if core.scb.ccr & super::scb::ccr::UNALIGN_TRP != 0 || is_private_bus_address(address) {
        return false;
    }
    !core.features.caches || memory_attributes(core, address).kind == Kind::Normal
}

/// Returns the part of `region` around `address` with the same execution permission, so that a branch out of it is
/// checked again.
pub fn subregion_with_same_execute_permission(core: &Core, region: Region, address: u32) -> Region {
    if !is_mpu_in_force(core) {
        return region;
    }
    let (mut low, mut end) = (u64::from(region.base), u64::from(region.base) + u64::from(region.bytes));
    for programmed in &core.mpu.regions[..core.mpu.count as usize] {
        let Some(log2) = programmed.log2_of_size() else {
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
