//! Private peripheral bus (0xE0000000): SysTick, NVIC and SCB as seen by the core that owns them.

use crate::v6m::core::Core;
use crate::v6m::nvic::exception;

/// First address of the system control space.
const SCS: u32 = 0xe000_e000;
const SCS_BYTES: u32 = 0x1000;
/// MPU_CTRL, as an offset.
const MPU_CTRL: u32 = 0xd94;
/// A sentence about something unmodelled that an access requests. `None` if it requests nothing unmodelled.
pub type UnmodelledRequest = Option<&'static str>;

/// Loads a word from the private peripheral bus at cycle `now`. `None`: nothing is mapped there.
pub fn load_private_peripheral_bus_word(core: &mut Core, address: u32, now: u64) -> Option<(u32, UnmodelledRequest)> {
    let Some(offset) = system_control_offset(address)? else { return Some((0, Some(DEBUG_UNIT))) };
    Some(read_register(core, offset, now).map_or((0, Some(NO_REGISTER)), |value| (value, None)))
}

/// Stores a word to the private peripheral bus at cycle `now`. `None`: nothing is mapped there.
pub fn store_private_peripheral_word(core: &mut Core, address: u32, value: u32, now: u64) -> Option<UnmodelledRequest> {
    let Some(offset) = system_control_offset(address)? else { return Some(Some(DEBUG_UNIT)) };
    if !write_register(core, offset, value, now) {
        return Some(Some(NO_REGISTER));
    }
    Some((offset == MPU_CTRL && value & 1 != 0).then_some("MPU enforcement (MPU_CTRL.ENABLE)"))
}

/// Returns whether a store to this register only changes which exceptions are pending, enabled or more urgent, so that
/// its cycle does not matter otherwise.
pub fn does_store_change_only_exceptions(address: u32) -> bool {
    matches!(address.wrapping_sub(SCS), 0x100 | 0x180 | 0x200 | 0x280 | 0xd04)
}

const DEBUG_UNIT: &str = "debug unit";
const NO_REGISTER: &str = "private peripheral register";

/// Returns the offset of an address in the system control space. `Some(None)` in the debug components around it (ROM
/// table, breakpoint and watchpoint units), which read as zero. `None` outside the bus.
fn system_control_offset(address: u32) -> Option<Option<u32>> {
    let offset = address.wrapping_sub(SCS);
    if offset < SCS_BYTES {
        return Some(Some(offset));
    }
    (address >> 20 == SCS >> 20).then_some(None)
}

/// Reads a register at an offset from 0xE000E000 at cycle `now`. `None` if nothing is there.
fn read_register(core: &mut Core, offset: u32, now: u64) -> Option<u32> {
    if let 0x010..=0x01f = offset {
        advance_systick(core, now);
        return Some(core.systick.read_register(offset & 0xc));
    }
    core.nvic.read_register(offset, core.ipsr)
}

/// Writes a register at cycle `now`. Returns false if nothing is there.
fn write_register(core: &mut Core, offset: u32, value: u32, now: u64) -> bool {
    if let 0x010..=0x01f = offset {
        advance_systick(core, now);
        core.systick.write_register(offset & 0xc, value, now);
        return true;
    }
    core.nvic.write_register(offset, value)
}

/// Advances SysTick to cycle `now`, and pends its exception if it passed zero.
pub fn advance_systick(core: &mut Core, now: u64) {
    if core.systick.advance_counter_to(now) {
        pend_exception(core, exception::SYSTICK);
    }
}

/// Makes an exception pending. With SEVONPEND a newly pending one also sets the event register.
pub fn pend_exception(core: &mut Core, number: u32) {
    if core.nvic.make_exception_pending(number) && core.nvic.scr & 0x10 != 0 {
        core.event = true;
    }
}
