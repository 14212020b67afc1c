//! Timing rules, one file per core or chip. Every rule names its source and its grade.
//!
//! A constant is a rule the manual prints and nobody may change. A [`Setting`] is a rule that is derived or
//! assumed and that a run may override (`--set timing.KEY=VALUE`), so that the effect of not knowing can be measured.

pub mod cortex_m0plus;
pub mod cortex_m3;
pub mod cortex_m4;
pub mod cortex_m7;
pub mod rp2040;
pub mod stm32_bus;
pub mod stm32_flash;

/// Versions of the timing of boards by chip. Each is raised by one whenever a cycle of a board with this chip moves,
/// and only then.
///
/// Stored results name it, so that they stay valid while the simulator's sources change without effect on time. The
/// test `python/tests/timing/test_timing_version.py` notices a raise that was forgotten.
const CHIP_VERSIONS: [(&str, u32); 1] = [("stm32f103", 3)];
/// The version of all other chips.
const VERSION: u32 = 2;

/// Returns the version of the timing of boards with a chip.
pub fn timing_model_version_of_chip(chip: &str) -> u32 {
    CHIP_VERSIONS.iter().find(|(name, _)| *name == chip).map_or(VERSION, |(_, version)| *version)
}

/// How well a timing rule is known: documented, approximate or assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimingRuleConfidenceGrade {
    /// Printed in a manual.
    Documented,
    /// Measured on silicon by others, who published it.
    Measured,
    /// Derived from printed facts, or a simplification of a known mechanism.
    Approximate,
    /// Nobody has published it.
    Assumed,
}

impl TimingRuleConfidenceGrade {
    /// Returns the lower-case name, as manifests print it.
    pub fn lower_case_name(self) -> &'static str {
        match self {
            TimingRuleConfidenceGrade::Documented => "documented",
            TimingRuleConfidenceGrade::Measured => "measured",
            TimingRuleConfidenceGrade::Approximate => "approximate",
            TimingRuleConfidenceGrade::Assumed => "assumed",
        }
    }
}

/// One adjustable timing rule: its name, value, limits, source and grade.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name after `timing.`, with the unit last.
    pub key: &'static str,
    /// Value in force unless a run overrides it.
    pub default: u64,
    /// Smallest value accepted.
    pub min: u64,
    /// Largest value accepted.
    pub max: u64,
    /// A description, with its source.
    pub about: &'static str,
    /// How well it is known.
    pub grade: TimingRuleConfidenceGrade,
}
