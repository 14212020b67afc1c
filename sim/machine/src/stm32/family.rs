//! The differences between the families of the machine: pipeline, flash interface, rules.

use rtoslab_cpu::v7m::exception::ExceptionTiming;
use rtoslab_cpu::v7m::pipeline::Pipeline;
use rtoslab_timing::Setting;

use super::chip::Map;
use super::flash_port::FlashPort;

/// A field of FLASH_ACR that a setting of the run may override.
#[derive(Debug, Clone, Copy)]
pub struct AcrBit {
    /// Name after `flash.`.
    pub name: &'static str,
    /// The bits.
    pub mask: u32,
    /// A description.
    pub about: &'static str,
}

/// Returns the description of a field of FLASH_ACR.
pub(super) const fn acr_field(name: &'static str, mask: u32, about: &'static str) -> AcrBit {
    AcrBit { name, mask, about }
}

/// The values of the timing rules of a core and its family's flash, by the rules' names.
pub type Rules<'a> = &'a dyn Fn(&str) -> u64;

/// A family of STM32 chips with an ARMv7-M core: the parts of the machine in which families differ.
pub trait Stm32ChipFamily: Clone + Send + Sync + 'static {
    /// The model of the core's pipeline.
    type Pipe: Pipeline + Clone + Send + Sync;
    /// The model of the flash interface.
    type Flash: FlashPort + Clone + Send + Sync;
    /// Exception timing.
    const EXCEPTIONS: ExceptionTiming;
    /// Adjustable rules of the core and the flash interface.
    const RULES: &'static [&'static [Setting]];
    /// The core has caches of its own (M7).
    const CACHES: bool = false;

    /// Returns the fields of a chip's FLASH_ACR that a setting can override.
    fn overridable_acr_fields(map: &Map) -> &'static [AcrBit];
    /// Returns the model of the core's pipeline, with the timing rules in force.
    fn new_timed_pipeline(rules: Rules) -> Self::Pipe;
    /// Returns the model of the flash interface, with the timing rules in force.
    fn new_flash_interface(map: &Map, rules: Rules) -> Self::Flash;
}

/// Returns the values of a table of timing rules, in its order.
pub(super) fn values_of_timing_rule_table<const N: usize>(settings: &[Setting; N], rules: Rules) -> [u64; N] {
    settings.map(|setting| rules(setting.key))
}
