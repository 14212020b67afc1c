//! Private peripheral bus (0xE0000000): SysTick, NVIC and SCB as seen by the core that owns them.

use crate::v6m::core::Core;
use crate::v6m::nvic::exception;

/// Reads a register at an offset from 0xE000E000 at cycle `now`. `None` if nothing is there.
pub fn read(core: &mut Core, offset: u32, now: u64) -> Option<u32> {
    if let 0x010..=0x01f = offset {
        advance_systick(core, now);
        return Some(core.systick.read(offset & 0xc));
    }
    core.nvic.read(offset, core.ipsr)
}

/// Writes a register at cycle `now`. False if nothing is there.
pub fn write(core: &mut Core, offset: u32, value: u32, now: u64) -> bool {
    if let 0x010..=0x01f = offset {
        advance_systick(core, now);
        core.systick.write(offset & 0xc, value, now);
        return true;
    }
    core.nvic.write(offset, value)
}

/// Counts SysTick up to `now` and pends its exception if it passed zero.
pub fn advance_systick(core: &mut Core, now: u64) {
    if core.systick.advance(now) {
        pend(core, exception::SYSTICK);
    }
}

/// Pends an exception; with SEVONPEND a fresh one sets the event register.
pub fn pend(core: &mut Core, number: u32) {
    if core.nvic.pend(number) && core.nvic.scr & 0x10 != 0 {
        core.event = true;
    }
}
