//! The settings that a run may override: timing rules, and the fields of FLASH_ACR, as if the firmware had written
//! them.

use std::marker::PhantomData;

use rtoslab_cpu::v7m::exception::ExceptionTiming;
use rtoslab_cpu::v7m::scb::ccr;
use rtoslab_timing::{Setting, TimingRuleConfidenceGrade, stm32_bus};

use super::chip::Map;
use super::family::{AcrBit, Stm32ChipFamily};
use crate::setting::SettingError;

/// The core clock that a run states, whatever RCC says: it only names the cycles.
pub(super) const CLOCK: &str = "clock_hz";

/// A timing rule with the value in force.
#[derive(Debug, Clone)]
struct Row {
    rule: Setting,
    value: u64,
}

/// The values of every adjustable timing rule of a family, and the overridden fields of FLASH_ACR and the clock.
#[derive(Debug, Clone)]
pub struct Settings<F> {
    rules: Vec<Row>,
    exceptions: Vec<Row>,
    /// Bits of FLASH_ACR that are overridden, and their values.
    acr: (u32, u32),
    /// Which can be.
    acr_bits: &'static [AcrBit],
    clock_hz: Option<u64>,
    /// The core's caches, if the run says: instructions, data.
    caches: [Option<bool>; 2],
    family: PhantomData<F>,
}

/// Returns the rules of a core's exception timing, as settings.
fn exception_rules(timing: ExceptionTiming) -> Vec<Row> {
    let rule =
        |key, value, about, grade| Row { rule: Setting { key, default: value, min: 0, max: 64, about, grade }, value };
    vec![
        rule(
            "exception_entry_cycles",
            timing.entry,
            "recognised to first handler instruction",
            TimingRuleConfidenceGrade::Documented,
        ),
        rule(
            "exception_exit_cycles",
            timing.exit,
            "return to first instruction of the interrupted code",
            TimingRuleConfidenceGrade::Documented,
        ),
        rule(
            "tail_chain_cycles",
            timing.tail_chain,
            "return to first instruction of the next handler",
            TimingRuleConfidenceGrade::Documented,
        ),
        rule(
            "late_arrival_cycles",
            timing.late_arrival,
            "recognised to the choice of the vector",
            TimingRuleConfidenceGrade::Assumed,
        ),
        rule(
            "pop_preemption_cycles",
            timing.pop_preemption,
            "return to where unstacking is no longer aborted",
            TimingRuleConfidenceGrade::Assumed,
        ),
    ]
}

impl<F: Stm32ChipFamily> Settings<F> {
    /// Creates the settings with their defaults.
    pub fn new(map: &Map) -> Settings<F> {
        let rules = F::RULES.iter().flat_map(|table| table.iter()).chain(&stm32_bus::SETTINGS);
        Settings {
            rules: rules.map(|&rule| Row { rule, value: rule.default }).collect(),
            exceptions: exception_rules(F::EXCEPTIONS),
            acr: (0, 0),
            acr_bits: F::overridable_acr_fields(map),
            clock_hz: None,
            caches: [None; 2],
            family: PhantomData,
        }
    }

    /// Returns every setting: name, rule, value in force. FLASH_ACR's bits and the clock show 0 until they are
    /// overridden.
    pub fn all_settings(&self) -> Vec<(String, Setting, u64)> {
        let rows = self.rules.iter().chain(&self.exceptions);
        let timing = rows.map(|row| (format!("timing.{}", row.rule.key), row.rule, row.value));
        let flash = self.acr_bits.iter().map(|bit| {
            let max = u64::from(bit.mask >> bit.mask.trailing_zeros());
            let rule = Setting {
                key: bit.name,
                default: 0,
                min: 0,
                max,
                about: bit.about,
                grade: TimingRuleConfidenceGrade::Documented,
            };
            (format!("flash.{}", bit.name), rule, u64::from((self.acr.1 & bit.mask) >> bit.mask.trailing_zeros()))
        });
        let about = "core clock of the run; 0: the clock set in RCC's registers";
        let rule = Setting {
            key: CLOCK,
            default: 0,
            min: 0,
            max: 1_000_000_000,
            about,
            grade: TimingRuleConfidenceGrade::Documented,
        };
        let clock = (CLOCK.to_owned(), rule, self.clock_hz.unwrap_or(0));
        let caches = ["icache", "dcache"].into_iter().zip(self.caches).filter(|_| F::CACHES);
        let caches = caches.map(|(name, on)| {
            let about = "the core's cache, whatever CCR says";
            let rule =
                Setting { key: name, default: 0, min: 0, max: 1, about, grade: TimingRuleConfidenceGrade::Documented };
            (name.to_owned(), rule, u64::from(on == Some(true)))
        });
        timing.chain(flash).chain(caches).chain([clock]).collect()
    }

    /// Overrides the value of one setting. Errors: unknown name, value out of range. If the core has no caches of its
    /// own, `icache` and `dcache` mean those of the flash interface.
    pub fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError> {
        let flash = format!("flash.{key}");
        let key = if !F::CACHES && self.acr_bits.iter().any(|bit| bit.name == key) { flash.as_str() } else { key };
        let Some((_, rule, _)) = self.all_settings().into_iter().find(|(name, _, _)| name == key) else {
            let known: Vec<String> = self.all_settings().into_iter().map(|(name, _, _)| name).collect();
            return Err(SettingError(format!("there is no setting {key}; the settings are {}", known.join(", "))));
        };
        if !(rule.min..=rule.max).contains(&value) {
            return Err(SettingError(format!("{key} = {value} is out of range; give {} to {}", rule.min, rule.max)));
        }
        if key == CLOCK {
            self.clock_hz = Some(value).filter(|&hz| hz != 0);
        } else if let Some(index) = ["icache", "dcache"].iter().position(|name| *name == key) {
            self.caches[index] = Some(value != 0);
        } else if let Some(bit) =
            key.strip_prefix("flash.").and_then(|name| self.acr_bits.iter().find(|bit| bit.name == name))
        {
            self.acr.0 |= bit.mask;
            self.acr.1 = self.acr.1 & !bit.mask | (value as u32) << bit.mask.trailing_zeros();
        } else if let Some(row) = self
            .rules
            .iter_mut()
            .chain(&mut self.exceptions)
            .find(|row| key.strip_prefix("timing.") == Some(row.rule.key))
        {
            row.value = value;
        }
        Ok(())
    }

    /// Returns the value of a timing rule by its key. Panics if the family has no such rule: a mistake in the code.
    pub fn timing_rule_value_of_key(&self, key: &str) -> u64 {
        let row = self.rules.iter().chain(&self.exceptions).find(|row| row.rule.key == key);
        row.unwrap_or_else(|| panic!("no rule {key}")).value
    }

    /// Returns the exception rules in force.
    pub fn exception_timing_rules(&self) -> ExceptionTiming {
        let usual = F::EXCEPTIONS;
        let (entry, exit) = (
            self.timing_rule_value_of_key("exception_entry_cycles"),
            self.timing_rule_value_of_key("exception_exit_cycles"),
        );
        ExceptionTiming {
            entry,
            // Floating-point state takes as much longer as it does.
            entry_float: entry + (usual.entry_float - usual.entry),
            exit,
            exit_float: exit + (usual.exit_float - usual.exit),
            tail_chain: self.timing_rule_value_of_key("tail_chain_cycles"),
            // No window is open for longer than what it is a part of.
            late_arrival: self.timing_rule_value_of_key("late_arrival_cycles").min(entry),
            pop_preemption: self.timing_rule_value_of_key("pop_preemption_cycles").min(exit),
        }
    }

    /// Returns whether the core's caches are on, instructions and data, under this CCR.
    pub fn are_caches_on(&self, ccr: u32) -> (bool, bool) {
        (self.caches[0].unwrap_or(ccr & ccr::IC != 0), self.caches[1].unwrap_or(ccr & ccr::DC != 0))
    }

    /// Returns FLASH_ACR with the fields that a setting overrides.
    pub fn flash_access_control(&self, register: u32) -> u32 {
        register & !self.acr.0 | self.acr.1
    }

    /// Returns the core clock that the run states, in Hz. `None` if it states none.
    pub fn clock_hz_setting(&self) -> Option<u64> {
        self.clock_hz
    }
}
