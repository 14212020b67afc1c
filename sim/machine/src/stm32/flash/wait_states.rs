//! How many wait states a clock needs: what firmware that sets fewer is warned of.

/// The parts, by the table of wait states in their manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartWaitStateTable {
    /// STM32L053 and L073 (RM0367 table 13).
    L0,
    /// STM32F103 (RM0008 3.3.3).
    F103,
    /// STM32F407 (RM0090 table 11).
    F407,
    /// STM32F411 (RM0383 table 5).
    F411,
    /// STM32F446 (RM0390 table 5).
    F446,
    /// STM32F767 (RM0410 table 7).
    F767,
    /// STM32H743 (RM0433 table 17). The clock is that of the AXI bus.
    H743,
}

/// The highest clock frequencies in kHz with 0, 1, 2 … wait states.
type Limits = &'static [u32];

const F4_27: Limits = &[30_000, 60_000, 90_000, 120_000, 150_000, 180_000];
const F4_24: Limits = &[24_000, 48_000, 72_000, 96_000, 120_000, 144_000, 168_000, 180_000];
const F4_21: Limits = &[22_000, 44_000, 66_000, 88_000, 110_000, 132_000, 154_000, 176_000, 180_000];
const F4_18: Limits = &[20_000, 40_000, 60_000, 80_000, 100_000, 120_000, 140_000, 160_000, 180_000];
const F411_27: Limits = &[30_000, 64_000, 90_000, 100_000];
const F767_27: Limits = &[30_000, 60_000, 90_000, 120_000, 150_000, 180_000, 210_000, 216_000];

/// The supply voltage in mV, and the core voltage range: PWR's VOS as the part's manual counts it (1 is the fastest; on
/// the H7 0 is).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// Supply.
    pub supply_mv: u32,
    /// Core voltage range or scale.
    pub scale: u8,
}

/// Returns the highest clock frequency for each number of wait states.
fn highest_clock_by_wait_states(part: PartWaitStateTable, conditions: Conditions) -> Limits {
    let Conditions { supply_mv, scale } = conditions;
    match (part, scale) {
        (PartWaitStateTable::L0, 1) => &[16_000, 32_000],
        (PartWaitStateTable::L0, 2) => &[8_000, 16_000],
        (PartWaitStateTable::L0, _) => &[4_200],
        (PartWaitStateTable::F103, _) => &[24_000, 48_000, 72_000],
        (PartWaitStateTable::F411, _) if supply_mv >= 2_700 => F411_27,
        (PartWaitStateTable::F767, _) if supply_mv >= 2_700 => F767_27,
        (
            PartWaitStateTable::F407 | PartWaitStateTable::F411 | PartWaitStateTable::F446 | PartWaitStateTable::F767,
            _,
        ) => match supply_mv {
            2_700.. => F4_27,
            2_400.. => F4_24,
            2_100.. => F4_21,
            _ => F4_18,
        },
        (PartWaitStateTable::H743, 0) => &[70_000, 140_000, 210_000, 225_000, 240_000],
        (PartWaitStateTable::H743, 1) => &[70_000, 140_000, 210_000, 225_000],
        (PartWaitStateTable::H743, 2) => &[55_000, 110_000, 165_000, 225_000],
        (PartWaitStateTable::H743, _) => &[45_000, 90_000, 135_000, 180_000, 225_000],
    }
}

/// Returns the number of wait states that a clock of `clock_hz` needs at least. `None` if the part cannot run that fast
/// under these conditions.
pub fn required_wait_states(part: PartWaitStateTable, clock_hz: u64, conditions: Conditions) -> Option<u32> {
    let limits = highest_clock_by_wait_states(part, conditions);
    limits.iter().position(|&limit| clock_hz <= u64::from(limit) * 1_000).map(|wait_states| wait_states as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_states_match_the_manuals() {
        for (part, mhz, supply_mv, scale, wait_states) in [
            (PartWaitStateTable::L0, 16, 3_300, 1, Some(0)),
            (PartWaitStateTable::L0, 32, 3_300, 1, Some(1)),
            (PartWaitStateTable::L0, 32, 3_300, 2, None),
            (PartWaitStateTable::F103, 24, 3_300, 1, Some(0)),
            (PartWaitStateTable::F103, 72, 3_300, 1, Some(2)),
            (PartWaitStateTable::F407, 168, 3_300, 1, Some(5)),
            (PartWaitStateTable::F407, 168, 2_500, 1, Some(6)),
            (PartWaitStateTable::F407, 168, 2_200, 1, Some(7)),
            (PartWaitStateTable::F411, 64, 3_300, 1, Some(1)),
            (PartWaitStateTable::F411, 100, 3_300, 1, Some(3)),
            (PartWaitStateTable::F446, 84, 3_300, 3, Some(2)),
            (PartWaitStateTable::F446, 180, 3_300, 1, Some(5)),
            (PartWaitStateTable::F767, 216, 3_300, 1, Some(7)),
            (PartWaitStateTable::F767, 240, 3_300, 1, None),
            (PartWaitStateTable::H743, 240, 3_300, 0, Some(4)),
            (PartWaitStateTable::H743, 240, 3_300, 1, None),
            (PartWaitStateTable::H743, 200, 3_300, 1, Some(2)),
        ] {
            let conditions = Conditions { supply_mv, scale };
            assert_eq!(
                required_wait_states(part, mhz * 1_000_000, conditions),
                wait_states,
                "{part:?} {mhz} MHz {conditions:?}"
            );
        }
    }
}
