//! What differs between the families that the machine is built for: pipeline, flash interface, rules.

use rtoslab_cpu::v7m::exception::ExceptionTiming;
use rtoslab_cpu::v7m::memo::Memo;
use rtoslab_cpu::v7m::pipeline::Pipeline;
use rtoslab_cpu::v7m::pipeline::m3m4::{CortexM3, CortexM4};
use rtoslab_cpu::v7m::pipeline::m7::M7;
use rtoslab_timing::{Setting, cortex_m3, cortex_m4, cortex_m7, stm32_bus, stm32_flash};

use super::chip::{FLASH_BASE, Map};
use super::flash::{FlashF1, FlashF4};
use super::flash_port::FlashPort;
use super::m7::Port;
use super::quick::Runner;
use super::system::System;

/// Bits of FLASH_ACR that a run may override by name.
#[derive(Debug, Clone, Copy)]
pub struct AcrBit {
    /// Name after `flash.`.
    pub name: &'static str,
    /// The bits.
    pub mask: u32,
    /// What it is.
    pub about: &'static str,
}

const fn acr(name: &'static str, mask: u32, about: &'static str) -> AcrBit {
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
    /// How the core is run.
    type Runner: Runner<Self::Pipe, System<Self>>;
    /// Exception timing.
    const EXCEPTIONS: ExceptionTiming;
    /// Adjustable rules of the core and the flash interface.
    const RULES: &'static [&'static [Setting]];
    /// The core has caches of its own (M7).
    const CACHES: bool = false;
    /// What of FLASH_ACR can be overridden.
    const ACR: &'static [AcrBit];

    /// The pipeline under the rules in force.
    fn pipe(rules: Rules) -> Self::Pipe;
    /// The flash interface under the rules in force.
    fn flash(map: &Map, rules: Rules) -> Self::Flash;
}

/// The values of a rule table, in its order.
pub(super) fn values<const N: usize>(settings: &[Setting; N], rules: Rules) -> [u64; N] {
    settings.map(|setting| rules(setting.key))
}

/// STM32F1.
#[derive(Debug, Clone)]
pub struct F1;

impl Family for F1 {
    type Pipe = CortexM3;
    type Flash = FlashF1;
    type Runner = Memo<CortexM3, System<F1>>;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M3;
    const RULES: &'static [&'static [Setting]] = &[&cortex_m3::SETTINGS];
    const ACR: &'static [AcrBit] =
        &[acr("wait_states", 7, "LATENCY"), acr("prefetch", 1 << 4, "PRFTBE: the prefetch buffer")];

    fn pipe(rules: Rules) -> CortexM3 {
        CortexM3::new(values(&cortex_m3::SETTINGS, rules))
    }

    fn flash(_: &Map, _: Rules) -> FlashF1 {
        FlashF1::new()
    }
}

/// STM32F4.
#[derive(Debug, Clone)]
pub struct F4;

impl Family for F4 {
    type Pipe = CortexM4;
    type Flash = FlashF4;
    type Runner = Memo<CortexM4, System<F4>>;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M4;
    const RULES: &'static [&'static [Setting]] = &[&cortex_m4::SETTINGS];
    const ACR: &'static [AcrBit] = &[
        acr("wait_states", 15, "LATENCY"),
        acr("prefetch", 1 << 8, "PRFTEN: prefetch of the next line"),
        acr("icache", 1 << 9, "ICEN: the accelerator's instruction lines"),
        acr("dcache", 1 << 10, "DCEN: the accelerator's data lines"),
    ];

    fn pipe(rules: Rules) -> CortexM4 {
        CortexM4::new(values(&cortex_m4::SETTINGS, rules))
    }

    fn flash(map: &Map, _: Rules) -> FlashF4 {
        FlashF4::new(FLASH_BASE, map.flash_bytes)
    }
}

/// Rules of the Cortex-M7 parts.
const M7_RULES: &[&[Setting]] = &[&cortex_m7::SETTINGS, &stm32_flash::SETTINGS];

/// STM32F7.
#[derive(Debug, Clone)]
pub struct F7;

impl Family for F7 {
    type Pipe = M7;
    type Flash = Port;
    type Runner = Memo<M7, System<F7>>;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M7;
    const RULES: &'static [&'static [Setting]] = M7_RULES;
    const CACHES: bool = true;
    const ACR: &'static [AcrBit] = &[
        acr("wait_states", 15, "LATENCY"),
        acr("prefetch", 1 << 8, "PRFTEN: prefetch on the ITCM path"),
        acr("art", 1 << 9, "ARTEN: the accelerator on the ITCM path"),
    ];

    fn pipe(rules: Rules) -> M7 {
        M7::new(values(&cortex_m7::SETTINGS, rules))
    }

    fn flash(map: &Map, rules: Rules) -> Port {
        Port::f7(map, values(&stm32_flash::SETTINGS, rules), values(&stm32_bus::SETTINGS, rules))
    }
}

/// STM32H7.
#[derive(Debug, Clone)]
pub struct H7;

impl Family for H7 {
    type Pipe = M7;
    type Flash = Port;
    type Runner = Memo<M7, System<H7>>;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M7;
    const RULES: &'static [&'static [Setting]] = M7_RULES;
    const CACHES: bool = true;
    const ACR: &'static [AcrBit] = &[acr("wait_states", 15, "LATENCY")];

    fn pipe(rules: Rules) -> M7 {
        M7::new(values(&cortex_m7::SETTINGS, rules))
    }

    fn flash(_: &Map, rules: Rules) -> Port {
        Port::h7(values(&stm32_flash::SETTINGS, rules), values(&stm32_bus::SETTINGS, rules))
    }
}
