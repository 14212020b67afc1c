//! The timing rules in force: defaults from the timing crate, overrides by name.

use rtoslab_cpu::v6m::exception::ExceptionTiming;
use rtoslab_timing::{Setting, cortex_m0plus, rp2040};

use crate::setting::SettingError;

/// The values of every adjustable timing rule of the RP2040.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rp2040TimingValues {
    core: [u64; cortex_m0plus::SETTINGS.len()],
    chip: [u64; rp2040::SETTINGS.len()],
}

impl Rp2040TimingValues {
    /// Creates the default values.
    pub fn new() -> Rp2040TimingValues {
        Rp2040TimingValues {
            core: cortex_m0plus::SETTINGS.map(|s| s.default),
            chip: rp2040::SETTINGS.map(|s| s.default),
        }
    }

    /// Returns every setting: name with its `timing.` prefix, rule, value in force.
    pub fn all_settings(&self) -> Vec<(String, Setting, u64)> {
        let rules = cortex_m0plus::SETTINGS.iter().chain(&rp2040::SETTINGS);
        let values = self.core.iter().chain(&self.chip);
        rules.zip(values).map(|(rule, value)| (format!("timing.{}", rule.key), *rule, *value)).collect()
    }

    /// Overrides the value of one timing rule. Errors: unknown name, value out of range.
    pub fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError> {
        let rules = cortex_m0plus::SETTINGS.iter().chain(&rp2040::SETTINGS);
        let values = self.core.iter_mut().chain(&mut self.chip);
        for (rule, slot) in rules.zip(values) {
            if key.strip_prefix("timing.") != Some(rule.key) {
                continue;
            }
            if !(rule.min..=rule.max).contains(&value) {
                return Err(SettingError(format!(
                    "{key} = {value} is out of range; give {} to {}",
                    rule.min, rule.max
                )));
            }
            *slot = value;
            return Ok(());
        }
        let known: Vec<String> = self.all_settings().into_iter().map(|(name, _, _)| name).collect();
        Err(SettingError(format!("there is no setting {key}; the settings are {}", known.join(", "))))
    }

    /// Returns the values of the exception timing.
    pub fn exception_timing(&self) -> ExceptionTiming {
        use cortex_m0plus::key;
        ExceptionTiming {
            entry: self.core[key::EXCEPTION_ENTRY],
            exit: self.core[key::EXCEPTION_EXIT],
            tail_chain: self.core[key::TAIL_CHAIN],
            late_arrival: self.core[key::LATE_ARRIVAL],
        }
    }

    /// Returns the value of a chip rule by its index in [`rp2040::key`].
    pub fn chip_timing_rule_value(&self, key: usize) -> u64 {
        self.chip[key]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_overridden_by_name_and_unknown_ones_refused() {
        let mut timing = Rp2040TimingValues::new();
        timing.set_timing_rule("timing.exception_entry_cycles", 16).unwrap();
        assert_eq!(timing.exception_timing().entry, 16);
        timing.set_timing_rule("timing.xip_overhead_cycles", 7).unwrap();
        assert_eq!(timing.chip_timing_rule_value(rp2040::key::XIP_OVERHEAD), 7);
        let unknown = timing.set_timing_rule("timing.nonsense", 1).unwrap_err().0;
        assert!(unknown.contains("timing.tail_chain_cycles"), "{unknown}");
        let range = timing.set_timing_rule("timing.tail_chain_cycles", 1000).unwrap_err().0;
        assert!(range.contains("4 to 64"), "{range}");
    }
}
