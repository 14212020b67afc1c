//! Private peripheral bus (0xE0000000–0xE00FFFFF) as the core's own loads and stores see it.

use super::cache::{self, Operation};
use super::core::Core;
use super::fault::Fault;
use super::itm::Stimulus;
use super::nvic::exception;
use super::scb::{self, ccr};
use super::{exception as entry, identity};

const ITM: u32 = 0xe000_0000;
const DWT: u32 = 0xe000_1000;
const FPB: u32 = 0xe000_2000;
const SCS: u32 = 0xe000_e000;
const TPIU: u32 = 0xe004_0000;
const ETM: u32 = 0xe004_1000;
const ROM_TABLE: u32 = 0xe00f_f000;
const STIR: u32 = 0xf00;

/// The request to the chip that a write to the private peripheral bus makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateBusWriteEffect {
    /// Nothing.
    None,
    /// Cache maintenance.
    Cache(Operation),
    /// CCR may have switched a cache on or off.
    CacheControl,
    /// Protection or attributes of memory changed.
    Protection,
    /// Something left through a stimulus port of the ITM.
    Stimulus(Stimulus),
}

/// Returns the byte lanes of a word that an access of `bytes` at `address` uses.
fn byte_lanes(address: u32, bytes: u32) -> u32 {
    let mask = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
    mask << (8 * (address & 3))
}

/// Loads from the private peripheral bus at `address` in cycle `now`. The chip handles its own registers there (DBGMCU)
/// before it calls this function.
pub fn read_register(core: &mut Core, address: u32, bytes: u32, now: u64) -> Result<u32, Fault> {
    let fault = Fault::DataBus(address);
    if !core.is_access_privileged() && address & !0xfff != ITM {
        return Err(fault);
    }
    let word = match address & !0xfff {
        SCS => read_system_control_register(core, address & 0xffc, now).ok_or(fault)?,
        DWT => core.dwt.read_register(address & 0xffc, core.dwt.cycle_counter_time_base(now, core.sleep_cycles)),
        ITM => core.itm.read_register(address & 0xffc),
        FPB | TPIU | ETM | ROM_TABLE => 0,
        _ => return Err(fault),
    };
    Ok((word & byte_lanes(address, bytes)) >> (8 * (address & 3)))
}

/// Returns the unmodelled feature that an access to the private peripheral bus requests, as a sentence without its full
/// stop. `None` if there is none. `written` is a store's value.
#[inline]
pub fn unmodelled_feature_of_access(core: &Core, address: u32, written: Option<u32>) -> Option<&'static str> {
    if address & !0xfff != DWT || !core.is_access_privileged() {
        return None;
    }
    let offset = address & 0xffc;
    written.map_or_else(
        || core.dwt.unmodelled_read_feature(offset),
        |value| core.dwt.dwt_write_unmodelled_feature(offset, value),
    )
}

/// Stores to the private peripheral bus at `address` in cycle `now`.
pub fn write_register(
    core: &mut Core,
    address: u32,
    bytes: u32,
    value: u32,
    now: u64,
) -> Result<PrivateBusWriteEffect, Fault> {
    let fault = Fault::DataBus(address);
    let offset = address & 0xffc;
    if !core.is_access_privileged() {
        let pends = address & !0xfff == SCS && offset == STIR && core.scb.ccr & ccr::USERSETMPEND != 0;
        if !pends && address & !0xfff != ITM {
            return Err(fault);
        }
    }
    if address & !0xfff == ITM {
        let (privileged, traces) = (core.is_access_privileged(), core.scb.demcr & scb::DEMCR_TRCENA != 0);
        let left = core.itm.write_register(address & 0xfff, bytes, value, privileged, traces);
        return Ok(left.map_or(PrivateBusWriteEffect::None, PrivateBusWriteEffect::Stimulus));
    }
    let (mask, value) = (byte_lanes(address, bytes), value << (8 * (address & 3)));
    match address & !0xfff {
        SCS => write_system_control_register(core, offset, value, mask, now).ok_or(fault),
        DWT => {
            let clock = core.dwt.cycle_counter_time_base(now, core.sleep_cycles);
            core.dwt.write_register(offset, value, clock);
            Ok(PrivateBusWriteEffect::None)
        }
        FPB | TPIU | ETM | ROM_TABLE => Ok(PrivateBusWriteEffect::None),
        _ => Err(fault),
    }
}

/// Reads a register of the system control space. `None` if nothing is there.
fn read_system_control_register(core: &mut Core, offset: u32, now: u64) -> Option<u32> {
    match offset {
        0x010..=0x01f => {
            advance_systick(core, now);
            Some(core.systick.read_register(offset & 0xc))
        }
        0x100..=0x4ef => core.nvic.read_register(offset),
        0xd90..=0xdb8 => Some(core.mpu.read_register(offset & 0xff)),
        _ => scb::read_register(core, offset)
            .or_else(|| identity::read_register(&core.features, offset))
            .or_else(|| core.features.caches.then(|| cache::read_register(&core.cache, offset)).flatten())
            .or_else(|| is_reserved_register(offset).then_some(0)),
    }
}

/// Writes the byte lanes in `mask` of a register of the system control space. `None` if nothing is there.
fn write_system_control_register(
    core: &mut Core,
    offset: u32,
    value: u32,
    mask: u32,
    now: u64,
) -> Option<PrivateBusWriteEffect> {
    let effect = match offset {
        0x010..=0x01f => {
            advance_systick(core, now);
            core.systick.write_register(offset & 0xc, value, now);
            // The machine's next event may be another one now.
            core.limit = 0;
            PrivateBusWriteEffect::None
        }
        0x100..=0x4ef => core.nvic.write_register(offset, value, mask).then_some(PrivateBusWriteEffect::None)?,
        0xd90..=0xdb8 => {
            core.mpu.write_register(offset & 0xff, value);
            core.refetch = true;
            core.limit = 0;
            PrivateBusWriteEffect::Protection
        }
        0xd14 => {
            scb::write_register(core, offset, value, mask, now);
            PrivateBusWriteEffect::CacheControl
        }
        _ if scb::write_register(core, offset, value, mask, now) => PrivateBusWriteEffect::None,
        _ if core.features.caches && is_cache_register(offset) => {
            cache::write_register(&mut core.cache, offset, value)?
                .map_or(PrivateBusWriteEffect::None, PrivateBusWriteEffect::Cache)
        }
        _ => is_reserved_register(offset).then_some(PrivateBusWriteEffect::None)?,
    };
    core.request_executor_exit_for_exception();
    Some(effect)
}

/// Returns whether an offset belongs to the cache maintenance registers.
fn is_cache_register(offset: u32) -> bool {
    matches!(offset, 0xd78..=0xd84 | 0xf50..=0xfa8)
}

/// Returns whether an offset is reserved or read-only, so that it reads as zero and ignores writes.
fn is_reserved_register(offset: u32) -> bool {
    matches!(offset, 0x000..=0x0ff | 0x4f0..=0xfff)
}

/// Advances SysTick to cycle `now`, and pends its exception if it passed zero.
pub fn advance_systick(core: &mut Core, now: u64) {
    if core.systick.advance_counter_to(now) {
        entry::pend_exception(core, exception::SYSTICK);
    }
}

#[cfg(test)]
mod tests;
