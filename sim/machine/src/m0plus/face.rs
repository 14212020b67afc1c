//! The user's view of a core: registers by name, statistics.

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::exception;

use crate::board::{CorePosition, Stats};

/// Returns the address of the next instruction. 0 before a start, if nothing was branched to.
pub fn next_instruction_address(core: &Core) -> u32 {
    if core.ip.is_null() { core.stray.unwrap_or(0) } else { core.next_instruction_address() }
}

/// Returns the position of a core.
pub fn core_position(core: &Core) -> CorePosition {
    CorePosition { t: core.t, pc: next_instruction_address(core), asleep: core.is_asleep() }
}

/// Returns the registers of a core, by name.
pub fn core_registers(core: &Core) -> Vec<(String, u32)> {
    let mut named: Vec<(String, u32)> = (0..13).map(|n| (format!("r{n}"), core.r[n])).collect();
    let rest = [
        ("sp", core.r[13]),
        ("lr", core.r[14]),
        ("pc", next_instruction_address(core)),
        ("xpsr", core.xpsr()),
        ("msp", core.main_stack_pointer()),
        ("psp", core.process_stack_pointer()),
        ("primask", u32::from(core.primask)),
        ("control", core.read_special_register(20)),
        ("vtor", core.nvic.vtor),
    ];
    named.extend(rest.map(|(name, value)| (name.to_owned(), value)));
    named
}

/// Sets a register (`r0`–`r12`, `sp`, `lr`, `pc`) or the flags (`apsr`, bits 31:28) of a core that executes. Returns
/// false if there is no such register, or `pc` is no address of code.
pub fn set_register<B: Bus>(core: &mut Core, bus: &mut B, name: &str, value: u32) -> bool {
    match name {
        "sp" => core.r[13] = value & !3,
        "lr" => core.r[14] = value,
        "apsr" => core.set_apsr(value),
        "pc" => {
            if bus.code_region(value & !1).is_none() {
                return false;
            }
            exception::jump_to_interworking_address(core, bus, value | 1);
            core.transfer.mask = 0;
        }
        _ => match name.strip_prefix('r').and_then(|digits| digits.parse::<usize>().ok()) {
            Some(number) if number < 13 => core.r[number] = value,
            _ => return false,
        },
    }
    true
}

/// Returns the statistics of a core since power-on, at cycle `now`.
pub fn core_stats_since_power_on(core: &Core, now: u64) -> Stats {
    let asleep = if core.is_asleep() { now.saturating_sub(core.slept_at) } else { 0 };
    Stats {
        cycles: now,
        instructions: core.instructions,
        sleep_cycles: core.sleep_cycles + asleep,
        bus_wait_cycles: core.bus_wait,
        flash_wait_cycles: core.flash_wait,
        xip_misses: 0,
        exception_cycles: core.exception_cycles,
        exceptions: core.exceptions.to_vec(),
        float_frames: 0,
    }
}

/// Looks up the core's region again, because its profile cells were added or removed.
pub fn look_up_code_region_again<B: Bus>(core: &mut Core, bus: &mut B) {
    if !core.ip.is_null() && core.stray.is_none() {
        let target = core.next_instruction_address() | u32::from(core.thumb);
        exception::jump_to_interworking_address(core, bus, target);
    }
}
