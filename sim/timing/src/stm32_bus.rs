//! Buses between the cores and the STM32s' peripherals: what an access costs beyond the core's own table.
//!
//! ST publishes no cycle counts for its bridges. A bus without prescaler takes its bus's cycles. Every cycle of a
//! peripheral bus lasts its prescaler.

use crate::{Setting, TimingRuleConfidenceGrade};

/// Index of each adjustable rule in [`SETTINGS`].
pub mod key {
    /// Loads from an AHB peripheral.
    pub const AHB_READ: usize = 0;
    /// Stores to an AHB peripheral.
    pub const AHB_WRITE: usize = 1;
    /// Loads from an APB peripheral, core cycles.
    pub const APB_BRIDGE: usize = 2;
    /// Bus clocks of an APB transfer.
    pub const APB_TRANSFER: usize = 3;
    /// AHB peripherals of the M7 parts.
    pub const M7_AHBP: usize = 4;
    /// Peripherals of the H7's D2 and D3 domains.
    pub const H7_DOMAIN: usize = 5;
    /// Bit-band alias stores.
    pub const BIT_BAND: usize = 6;
    /// RAM after the M7's AXI.
    pub const M7_AXI_RAM: usize = 7;
}

/// Adjustable rules of the buses.
pub const SETTINGS: [Setting; 8] = [
    Setting {
        key: "ahb_read_extra_cycles",
        default: 0,
        min: 0,
        max: 64,
        about: "load from an AHB peripheral (F4 and F7 GPIO): the matrix lets an idle slave be used at once",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "ahb_write_extra_cycles",
        default: 0,
        min: 0,
        max: 64,
        about: "store to an AHB peripheral",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "apb_bridge_extra_cycles",
        default: 2,
        min: 0,
        max: 64,
        about: "AHB-to-APB bridge: core cycles of an access besides the transfer on the APB, of stores to the STM32L0 alone; \
                fits the 12.03 cycles that blog.soch.cc measured for a loop that reads an STM32F103 port",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "apb_transfer_clocks",
        default: 2,
        min: 2,
        max: 4,
        about: "setup and access cycle of an APB transfer, in APB clocks (AMBA 3 APB)",
        grade: TimingRuleConfidenceGrade::Documented,
    },
    Setting {
        key: "m7_ahbp_extra_cycles",
        default: 5,
        min: 0,
        max: 64,
        about: "M7: load from 0x40000000-0x5FFFFFFF over AHBP beyond the core's own cycles; stores are buffered and follow \
                each other (RIOT-OS pull request 16787: one a cycle on an STM32F767)",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "h7_domain_extra_cycles",
        default: 8,
        min: 0,
        max: 256,
        about: "H7: crossing from D1 to D2 or D3 at half the core clock, each way together",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
    Setting {
        key: "bit_band_extra_cycles",
        default: 1,
        min: 0,
        max: 8,
        about: "bit-band store: the read of its read-modify-write, besides the target's own waits",
        grade: TimingRuleConfidenceGrade::Approximate,
    },
    Setting {
        key: "m7_axi_ram_extra_cycles",
        default: 5,
        min: 0,
        max: 64,
        about: "M7: load or line from SRAM behind AXI (F7 SRAM1 and SRAM2, H7 AXI SRAM) that no cache holds; not published",
        grade: TimingRuleConfidenceGrade::Assumed,
    },
];

/// A handler of the M3, M4 or M7 that returns so few instructions after the store that clears its interrupt, itself
/// counted, may be entered again on silicon. Assumed: what was reported of silicon (stm32f1xx-hal issue 332,
/// stm32h7xx-hal issue 190) has the store as its last statement, so that one to three instructions follow it to the
/// return.
pub const LATE_CLEAR_INSTRUCTIONS: u64 = 3;

/// Returns the extra data-phase cycles of an APB access begun in core cycle `at`: bridge, start of the next APB clock,
/// transfer.
///
/// `prescaler` is the number of core cycles an APB clock (AHB and APB prescaler together).
pub fn apb_access_wait_cycles(values: &[u64; SETTINGS.len()], at: u64, prescaler: u64) -> u64 {
    apb_transfer_wait_cycles(values, at, prescaler, values[key::APB_BRIDGE])
}

/// Returns the extra cycles of an APB store that a core's store buffer takes. An STM32F103 at 72 MHz sets and clears a
/// pin in four cycles (data sheet 2.3.21: 18 MHz).
pub fn buffered_apb_store_wait_cycles(values: &[u64; SETTINGS.len()], at: u64, prescaler: u64) -> u64 {
    apb_transfer_wait_cycles(values, at, prescaler, 0)
}

/// Returns the extra data-phase cycles of an APB access behind a bridge of `bridge` cycles.
fn apb_transfer_wait_cycles(values: &[u64; SETTINGS.len()], at: u64, prescaler: u64, bridge: u64) -> u64 {
    let data_phase = at + 1;
    let begins = (data_phase + bridge).next_multiple_of(prescaler);
    begins + values[key::APB_TRANSFER] * prescaler - 1 - data_phase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apb_access_waits_for_its_clock() {
        let values = SETTINGS.map(|setting| setting.default);
        assert_eq!(
            apb_access_wait_cycles(&values, 10, 1),
            3,
            "two for the bridge, two for the transfer, one of them counts anyway"
        );
        // Data phase in 11, bridge until 13, APB clock edges at 16 and 20. Each clock lasts 4.
        assert_eq!(apb_access_wait_cycles(&values, 10, 4), 16 + 8 - 1 - 11);
        assert_eq!(apb_access_wait_cycles(&values, 14, 4), 20 + 8 - 1 - 15);
    }

    #[test]
    fn buffered_stores_follow_each_other_at_the_pace_of_the_apb() {
        let values = SETTINGS.map(|setting| setting.default);
        for prescaler in [1, 2, 4] {
            // A store's address phase goes with the end of the one before it.
            let mut ends = 0;
            let ended: Vec<u64> = (0..4)
                .map(|_| {
                    ends += 1 + buffered_apb_store_wait_cycles(&values, ends, prescaler);
                    ends
                })
                .collect();
            assert!(ended.windows(2).all(|pair| pair[1] - pair[0] == 2 * prescaler), "{prescaler}: {ended:?}");
        }
    }
}
