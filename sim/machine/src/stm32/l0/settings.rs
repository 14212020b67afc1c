//! The settings that a run may override: timing rules, and the fields of FLASH_ACR, as if the firmware had written
//! them.

use rtoslab_timing::{Setting, TimingRuleConfidenceGrade, cortex_m0plus, stm32_bus};

use crate::setting::SettingError;

const CORE: usize = cortex_m0plus::SETTINGS.len();
/// Rules with their values: of the core, then of the buses.
const RULES: usize = CORE + stm32_bus::SETTINGS.len();

/// Returns a timing setting that is 0 by default, so that a documented rule holds.
const fn optional_setting(key: &'static str, max: u64, about: &'static str) -> Setting {
    Setting { key, default: 0, min: 0, max, about, grade: TimingRuleConfidenceGrade::Documented }
}

/// Parts of FLASH_ACR by name, with the mask of each (RM0367 3.7.1).
const FLASH: [(Setting, u32); 4] = [
    (optional_setting("flash.wait_states", 1, "LATENCY"), 1 << 0),
    (optional_setting("flash.prefetch", 1, "PRFTEN: prefetch of the next word"), 1 << 1),
    (optional_setting("flash.buffers_off", 1, "DISAB_BUF: no buffers, hence no prefetch and no pre-read"), 1 << 5),
    (optional_setting("flash.pre_read", 1, "PRE_READ: the word behind a data read is read ahead"), 1 << 6),
];
const CLOCK: Setting =
    optional_setting("clock_hz", 1_000_000_000, "core clock of the run; 0: the clock set in RCC's registers");

/// The values of every adjustable timing rule, and the overridden fields of FLASH_ACR and the clock.
#[derive(Debug, Clone)]
pub struct Settings {
    values: [u64; RULES],
    /// Bits of FLASH_ACR that are overridden, and their values.
    acr: (u32, u32),
    clock_hz: u64,
}

/// Returns the timing rules of the chip.
fn timing_rules() -> impl Iterator<Item = &'static Setting> {
    cortex_m0plus::SETTINGS.iter().chain(&stm32_bus::SETTINGS)
}

impl Settings {
    /// Creates the settings with their defaults.
    pub fn new() -> Settings {
        let mut values = [0; RULES];
        for (value, rule) in values.iter_mut().zip(timing_rules()) {
            *value = rule.default;
        }
        Settings { values, acr: (0, 0), clock_hz: 0 }
    }

    /// Returns every setting: name, rule, value in force. FLASH_ACR's bits and the clock show 0 until they are
    /// overridden.
    pub fn all_settings(&self) -> Vec<(String, Setting, u64)> {
        let timing =
            timing_rules().zip(self.values).map(|(rule, value)| (format!("timing.{}", rule.key), *rule, value));
        let flash = FLASH.iter().map(|(rule, mask)| (rule.key.to_owned(), *rule, u64::from(self.acr.1 & mask != 0)));
        timing.chain(flash).chain([(CLOCK.key.to_owned(), CLOCK, self.clock_hz)]).collect()
    }

    /// Overrides the value of one setting. Errors: unknown name, value out of range.
    pub fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError> {
        let list = self.all_settings();
        let Some(index) = list.iter().position(|(name, _, _)| name == key) else {
            let known: Vec<String> = list.into_iter().map(|(name, _, _)| name).collect();
            return Err(SettingError(format!("there is no setting {key}; the settings are {}", known.join(", "))));
        };
        let rule = list[index].1;
        if !(rule.min..=rule.max).contains(&value) {
            return Err(SettingError(format!("{key} = {value} is out of range; give {} to {}", rule.min, rule.max)));
        }
        match index.checked_sub(RULES) {
            None => self.values[index] = value,
            Some(bit) if bit < FLASH.len() => {
                let mask = FLASH[bit].1;
                self.acr.0 |= mask;
                self.acr.1 = if value == 0 { self.acr.1 & !mask } else { self.acr.1 | mask };
            }
            Some(_) => self.clock_hz = value,
        }
        Ok(())
    }

    /// Returns a rule of the core by its index in [`cortex_m0plus::key`].
    pub fn core_timing_rule_value(&self, key: usize) -> u64 {
        self.values[key]
    }

    /// Returns the rules of the buses.
    pub fn bus_timing_rules(&self) -> [u64; stm32_bus::SETTINGS.len()] {
        std::array::from_fn(|index| self.values[CORE + index])
    }

    /// Returns FLASH_ACR with the fields that a setting overrides.
    pub fn flash_access_control(&self, register: u32) -> u32 {
        register & !self.acr.0 | self.acr.1
    }

    /// Returns the core clock that the run states, in Hz. `None` if it states none.
    pub fn clock_hz_setting(&self) -> Option<u64> {
        (self.clock_hz != 0).then_some(self.clock_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_overrides_replace_register() {
        let mut settings = Settings::new();
        assert_eq!(settings.flash_access_control(0x40), 0x40);
        for (key, value) in [("flash.wait_states", 1), ("flash.pre_read", 0), ("clock_hz", 8_000_000)] {
            settings.set_timing_rule(key, value).unwrap();
        }
        assert_eq!((settings.flash_access_control(0x42), settings.clock_hz_setting()), (3, Some(8_000_000)));
        settings.set_timing_rule("timing.apb_bridge_extra_cycles", 5).unwrap();
        assert_eq!(settings.bus_timing_rules()[stm32_bus::key::APB_BRIDGE], 5);
        settings.set_timing_rule("timing.exception_entry_cycles", 16).unwrap();
        assert_eq!(settings.core_timing_rule_value(cortex_m0plus::key::EXCEPTION_ENTRY), 16);
    }

    #[test]
    fn setting_errors_name_valid_values() {
        let mut settings = Settings::new();
        assert!(settings.set_timing_rule("flash.wait_states", 2).unwrap_err().0.contains("0 to 1"));
        assert!(settings.set_timing_rule("flash.icache", 1).unwrap_err().0.contains("flash.pre_read"));
    }
}
