//! The differences between the families of the machine: pipeline, flash interface, rules.

use rtoslab_cpu::v7m::exception::ExceptionTiming;
use rtoslab_cpu::v7m::pipeline::Pipeline;
use rtoslab_timing::Setting;

use super::chip::Map;
use super::flash_port::FlashPort;

/// Bits of FLASH_ACR that a run may override by name.
#[derive(Debug, Clone, Copy)]
pub struct AcrBit {
    /// Name after `flash.`.
    pub name: &'static str,
    /// The bits.
    pub mask: u32,
    /// A description.
    pub about: &'static str,
}

/// A field of FLASH_ACR.
pub(super) const fn bit(name: &'static str, mask: u32, about: &'static str) -> AcrBit {
    AcrBit { name, mask, about }
}

/// The rules of a core and of its family's flash, as values by their place in the timing crate's tables.
pub type Rules<'a> = &'a dyn Fn(&str) -> u64;

/// A family of chips with an ARMv7-M core.
pub trait Family: Clone + Send + Sync + 'static {
    /// The core's pipeline.
    type Pipe: Pipeline + Clone + Send + Sync;
    /// The flash interface.
    type Flash: FlashPort + Clone + Send + Sync;
    /// Exception timing.
    const EXCEPTIONS: ExceptionTiming;
    /// Adjustable rules of the core and the flash interface.
    const RULES: &'static [&'static [Setting]];
    /// The core has caches of its own (M7).
    const CACHES: bool = false;

    /// The fields of a chip's FLASH_ACR that can be overridden.
    fn acr(map: &Map) -> &'static [AcrBit];
    /// The pipeline under the rules in force.
    fn timed_pipeline(rules: Rules) -> Self::Pipe;
    /// The flash interface under the rules in force.
    fn flash(map: &Map, rules: Rules) -> Self::Flash;
}

/// The values of a rule table, in its order.
pub(super) fn values<const N: usize>(settings: &[Setting; N], rules: Rules) -> [u64; N] {
    settings.map(|setting| rules(setting.key))
}
