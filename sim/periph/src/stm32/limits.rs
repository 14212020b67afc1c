//! Clocks as the data sheets allow them: what firmware sets up beyond that no part can reach.

use super::{Chip, Clocks};

const MHZ: u64 = 1_000_000;

/// The highest clock frequencies of a part in MHz: core, AHB, APB1 to APB4.
struct PartClockLimits {
    core: u64,
    ahb: u64,
    apb: [u64; 4],
}

/// Returns the limits of the core, APB1 and APB2 in MHz. AHB is limited like the core.
const fn core_limits(core: u64, apb1: u64, apb2: u64) -> PartClockLimits {
    PartClockLimits { core, ahb: core, apb: [apb1, apb2, apb2, apb2] }
}

/// Returns the highest clock frequencies of a chip (DS10152, DS10685; DS5319; DS8626, DS10314, DS10693; DS11532;
/// DS12110, revision V with the boost).
fn chip_clock_limits(chip: Chip) -> PartClockLimits {
    match chip {
        Chip::L053 | Chip::L073 => core_limits(32, 32, 32),
        Chip::F103 => core_limits(72, 36, 72),
        Chip::F407 => core_limits(168, 42, 84),
        Chip::F411 => core_limits(100, 50, 100),
        Chip::F446 => core_limits(180, 45, 90),
        Chip::F767 => core_limits(216, 54, 108),
        Chip::H743 => PartClockLimits { core: 480, ahb: 240, apb: [120; 4] },
    }
}

/// Returns a sentence about the first clock that is beyond its limit. `stated`: the core clock in Hz that the run
/// states.
pub(super) fn describe_first_exceeded_clock_limit(chip: Chip, clocks: &Clocks, stated: Option<u64>) -> Option<String> {
    let most = chip_clock_limits(chip);
    let apbs = ["APB1", "APB2", "APB3", "APB4"].into_iter().zip(clocks.pclk_hz).zip(most.apb);
    let buses = apbs.map(|((name, hz), most)| (name, hz, most));
    let core = ("core clock", stated.unwrap_or(clocks.core_hz), most.core);
    let mut rows = [core, ("AHB", clocks.hclk_hz, most.ahb)].into_iter().chain(buses);
    // Buses do not follow a stated clock: what the registers give says nothing then.
    let row = rows.find(|&(name, hz, most)| hz > most * MHZ && (stated.is_none() || name == core.0))?;
    let (name, hz, most) = row;
    Some(format!("{name}: {hz} Hz is beyond the {most} MHz that the data sheet of the STM32{chip:?} allows"))
}
