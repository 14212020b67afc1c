//! The families: their parts, and how a machine runs their cores.

use rtoslab_cpu::v7m::exception::ExceptionTiming;
use rtoslab_cpu::v7m::pipeline::m3m4::{CortexM3, CortexM4};
use rtoslab_cpu::v7m::pipeline::m7::M7;
use rtoslab_cpu::v7m::timing_cache::TimingCache;
use rtoslab_timing::{Setting, cortex_m3, cortex_m4, cortex_m7, stm32_bus, stm32_flash};

use super::chip::{FLASH_BASE, Map};
use super::family::{AcrBit, Rules, Stm32ChipFamily, acr_field, values_of_timing_rule_table};
use super::flash::{FlashF1, FlashF4};
use super::m7::Port;
use super::runner::Runner;
use super::system::System;

/// A family of chips with the type that executes its core.
pub trait Run: Stm32ChipFamily {
    /// The type that executes the core.
    type Runner: Runner<Self::Pipe, System<Self>>;
}

/// The STM32F1 family.
#[derive(Debug, Clone)]
pub struct F1;

impl Stm32ChipFamily for F1 {
    /// The model of the core's pipeline.
    type Pipe = CortexM3;
    /// The model of the flash interface.
    type Flash = FlashF1;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M3;
    const RULES: &'static [&'static [Setting]] = &[&cortex_m3::SETTINGS];

    /// Returns the fields of a chip's FLASH_ACR that a setting can override.
    fn overridable_acr_fields(_: &Map) -> &'static [AcrBit] {
        const { &[acr_field("wait_states", 7, "LATENCY"), acr_field("prefetch", 1 << 4, "PRFTBE: the prefetch buffer")] }
    }

    /// Returns the model of the core's pipeline, with the timing rules in force.
    fn new_timed_pipeline(rules: Rules) -> CortexM3 {
        CortexM3::new(values_of_timing_rule_table(&cortex_m3::SETTINGS, rules))
    }

    /// Returns the model of the flash interface, with the timing rules in force.
    fn new_flash_interface(_: &Map, _: Rules) -> FlashF1 {
        FlashF1::new()
    }
}

impl Run for F1 {
    /// The type that executes the core.
    type Runner = TimingCache<CortexM3, System<F1>>;
}

/// The STM32F4 family.
#[derive(Debug, Clone)]
pub struct F4;

impl Stm32ChipFamily for F4 {
    /// The model of the core's pipeline.
    type Pipe = CortexM4;
    /// The model of the flash interface.
    type Flash = FlashF4;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M4;
    const RULES: &'static [&'static [Setting]] = &[&cortex_m4::SETTINGS];

    /// Returns the fields of a chip's FLASH_ACR that a setting can override.
    fn overridable_acr_fields(_: &Map) -> &'static [AcrBit] {
        const {
            &[
                acr_field("wait_states", 15, "LATENCY"),
                acr_field("prefetch", 1 << 8, "PRFTEN: prefetch of the next line"),
                acr_field("icache", 1 << 9, "ICEN: the accelerator's instruction lines"),
                acr_field("dcache", 1 << 10, "DCEN: the accelerator's data lines"),
            ]
        }
    }

    /// Returns the model of the core's pipeline, with the timing rules in force.
    fn new_timed_pipeline(rules: Rules) -> CortexM4 {
        CortexM4::new(values_of_timing_rule_table(&cortex_m4::SETTINGS, rules))
    }

    /// Returns the model of the flash interface, with the timing rules in force.
    fn new_flash_interface(map: &Map, _: Rules) -> FlashF4 {
        FlashF4::new(FLASH_BASE, map.flash_bytes)
    }
}

impl Run for F4 {
    /// The type that executes the core.
    type Runner = TimingCache<CortexM4, System<F4>>;
}

/// The STM32F7 and STM32H7 families, which share the code of the executor. They differ in the chips' memory maps and in
/// the flash.
#[derive(Debug, Clone)]
pub struct Stm32F7H7Family;

impl Stm32ChipFamily for Stm32F7H7Family {
    /// The model of the core's pipeline.
    type Pipe = M7;
    /// The model of the flash interface.
    type Flash = Port;
    const EXCEPTIONS: ExceptionTiming = ExceptionTiming::CORTEX_M7;
    const RULES: &'static [&'static [Setting]] = &[&cortex_m7::SETTINGS, &stm32_flash::SETTINGS];
    const CACHES: bool = true;

    /// Returns the fields of a chip's FLASH_ACR that a setting can override.
    fn overridable_acr_fields(map: &Map) -> &'static [AcrBit] {
        const F7: &[AcrBit] = &[
            acr_field("wait_states", 15, "LATENCY"),
            acr_field("prefetch", 1 << 8, "PRFTEN: prefetch on the ITCM path"),
            acr_field("art", 1 << 9, "ARTEN: the accelerator on the ITCM path"),
        ];
        const H7: &[AcrBit] = &[acr_field("wait_states", 15, "LATENCY")];
        if map.domains { H7 } else { F7 }
    }

    /// Returns the model of the core's pipeline, with the timing rules in force.
    fn new_timed_pipeline(rules: Rules) -> M7 {
        M7::new(values_of_timing_rule_table(&cortex_m7::SETTINGS, rules))
    }

    /// Returns the model of the flash interface, with the timing rules in force.
    fn new_flash_interface(map: &Map, rules: Rules) -> Port {
        let (flash, bus) = (
            values_of_timing_rule_table(&stm32_flash::SETTINGS, rules),
            values_of_timing_rule_table(&stm32_bus::SETTINGS, rules),
        );
        if map.domains {
            Port::h7_flash_interface_with_one_path(flash, bus)
        } else {
            Port::new_f7_bus_with_flash_paths(map, flash, bus)
        }
    }
}

impl Run for Stm32F7H7Family {
    /// The type that executes the core.
    type Runner = TimingCache<M7, System<Stm32F7H7Family>>;
}
