//! Status registers, escalation, lock-up, integrity of returns.

use super::*;
use crate::v7m::nvic::exception::{BUS_FAULT, DEBUG_MONITOR, MEM_MANAGE, USAGE_FAULT};

const SHCSR: u32 = 0xe000_ed24;
const DFSR: u32 = 0xe000_ed30;
const MMFAR: u32 = 0xe000_ed34;
const BFAR: u32 = 0xe000_ed38;
const FORCED: u32 = 1 << 30;

/// Fault, CFSR, exception, address register with its value.
type Row = (Fault, u32, u32, Option<(u32, u32)>);

const FAULTS: [Row; 10] = [
    (Fault::Undefined, 1 << 16, USAGE_FAULT, None),
    (Fault::InvalidState, 1 << 17, USAGE_FAULT, None),
    (Fault::InvalidPc, 1 << 18, USAGE_FAULT, None),
    (Fault::NoCoprocessor, 1 << 19, USAGE_FAULT, None),
    (Fault::Unaligned, 1 << 24, USAGE_FAULT, None),
    (Fault::DivideByZero, 1 << 25, USAGE_FAULT, None),
    (Fault::FetchBus, 1 << 8, BUS_FAULT, None),
    (Fault::DataBus(0x1234), 1 << 15 | 1 << 9, BUS_FAULT, Some((BFAR, 0x1234))),
    (Fault::FetchProtection, 1 << 0, MEM_MANAGE, None),
    (Fault::DataProtection(0x5678), 1 << 7 | 1 << 1, MEM_MANAGE, Some((MMFAR, 0x5678))),
];

#[test]
fn a_disabled_fault_is_a_hard_fault_with_its_status() {
    for (fault, cfsr, _, address) in FAULTS {
        let mut bench = Bench::m4();
        assert_eq!(bench.fault(fault), ExceptionStepResult::Entered(HARD_FAULT), "{fault:?}");
        assert_eq!((bench.read_register(CFSR), bench.read_register(HFSR)), (cfsr, FORCED), "{fault:?}");
        if let Some((register, value)) = address {
            assert_eq!(bench.read_register(register), value);
        }
        let at = bench.core.r[13];
        assert_eq!(frame(&mut bench, at)[6], THREAD, "the faulting instruction");
    }
}

#[test]
fn an_enabled_fault_has_its_own_handler() {
    for (fault, cfsr, number, _) in FAULTS {
        let mut bench = Bench::m4();
        bench.write_register(SHCSR, 7 << 16);
        assert_eq!(bench.fault(fault), ExceptionStepResult::Entered(number), "{fault:?}");
        assert_eq!((bench.read_register(CFSR), bench.read_register(HFSR)), (cfsr, 0), "{fault:?}");
    }
}

#[test]
fn faults_escalate_by_priority() {
    // Priority of UsageFault, of the active interrupt, BASEPRI, PRIMASK: what is entered.
    let table = [
        (0x20, 0x40, 0x00, false, USAGE_FAULT),
        (0x40, 0x40, 0x00, false, HARD_FAULT),
        (0x50, 0x40, 0x00, false, HARD_FAULT),
        (0x20, 0x40, 0x20, false, HARD_FAULT),
        (0x20, 0x40, 0x30, false, USAGE_FAULT),
        (0x00, 0x40, 0x00, true, HARD_FAULT),
    ];
    for (usage, interrupt, basepri, primask, entered) in table {
        let mut bench = Bench::m3();
        bench.write_register(SHCSR, 7 << 16);
        bench.core.nvic.set_priority(USAGE_FAULT, usage);
        bench.enable(0, interrupt);
        bench.interrupt_level(0);
        (bench.core.basepri, bench.core.primask) = (basepri, primask);
        assert_eq!(
            bench.fault(Fault::Undefined),
            ExceptionStepResult::Entered(entered),
            "{usage:#x} {interrupt:#x} {basepri:#x}"
        );
        assert_eq!(bench.core.r[14], 0xffff_fff1);
    }
}

#[test]
fn fault_in_hard_fault_or_nmi_or_under_faultmask_locks_up() {
    let mut bench = Bench::m3();
    bench.fault(Fault::Undefined);
    assert_eq!(bench.fault(Fault::Unaligned), ExceptionStepResult::LockedUp);
    assert_eq!(bench.read_register(CFSR), 1 << 16 | 1 << 24);
    let mut bench = Bench::m3();
    super::super::pend_exception(&mut bench.core, NMI);
    bench.settle();
    assert_eq!(bench.fault(Fault::DataBus(0)), ExceptionStepResult::LockedUp);
    let mut bench = Bench::m3();
    bench.core.faultmask = true;
    assert_eq!(bench.fault(Fault::DivideByZero), ExceptionStepResult::LockedUp);
    assert_eq!(bench.core.phase, Phase::Lockup);
}

#[test]
fn bus_faults_of_data_can_be_ignored_at_negative_priority() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ed14, ccr::BFHFNMIGN);
    assert!(!bench.core.ignores_bus_faults());
    bench.core.faultmask = true;
    assert!(bench.core.ignores_bus_faults());
    bench.core.faultmask = false;
    bench.fault(Fault::Undefined);
    assert!(bench.core.ignores_bus_faults());
    assert_eq!(bench.read_register(0x3000_0000), 0, "a load from nowhere");
}

/// Lazy preservation: what could be told when the state was stacked decides, not what can be told now.
#[test]
fn lazy_faults() {
    let (bfrdy, mmrdy, hfrdy) = (1 << 6, 1 << 5, 1 << 4);
    let table = [
        (Fault::LazyBus, bfrdy, ExceptionStepResult::Entered(BUS_FAULT), 1 << 13),
        (Fault::LazyBus, mmrdy | hfrdy, ExceptionStepResult::Entered(HARD_FAULT), 1 << 13),
        (Fault::LazyBus, mmrdy, ExceptionStepResult::LockedUp, 1 << 13),
        (Fault::LazyProtection, mmrdy | hfrdy, ExceptionStepResult::Entered(MEM_MANAGE), 1 << 5),
        (Fault::LazyProtection, bfrdy | hfrdy, ExceptionStepResult::Entered(HARD_FAULT), 1 << 5),
    ];
    for (fault, ready, outcome, cfsr) in table {
        let mut bench = Bench::m4();
        bench.write_register(SHCSR, 7 << 16);
        bench.write_register(0xe000_ef34, 0xc000_0001 | ready);
        assert_eq!(bench.fault(fault), outcome, "{fault:?} {ready:#x}");
        assert_eq!(bench.read_register(CFSR), cfsr);
    }
    // In a HardFault handler BusFault must wait, and the instruction continues without the state.
    let mut bench = Bench::m4();
    bench.write_register(SHCSR, 7 << 16);
    bench.core.nvic.set_exception_active(HARD_FAULT, true);
    bench.write_register(0xe000_ef34, 0xc000_0001 | bfrdy);
    assert_eq!(bench.fault(Fault::LazyBus), ExceptionStepResult::None);
    assert!(bench.core.nvic.is_pending(BUS_FAULT));
    assert_eq!(bench.read_register(0xe000_ef34) & 1, 0);
}

#[test]
fn breakpoints() {
    let mut bench = Bench::m3();
    assert_eq!(bench.fault(Fault::Breakpoint), ExceptionStepResult::Entered(HARD_FAULT));
    assert_eq!((bench.read_register(HFSR), bench.read_register(DFSR), bench.read_register(CFSR)), (1 << 31, 2, 0));
    assert_eq!(bench.fault(Fault::Breakpoint), ExceptionStepResult::LockedUp);
    let mut bench = Bench::m3();
    bench.write_register(0xe000_edfc, 1 << 16);
    assert_eq!(bench.fault(Fault::Breakpoint), ExceptionStepResult::Entered(DEBUG_MONITOR));
    assert_eq!((bench.read_register(HFSR), bench.read_register(DFSR)), (0, 2));
}

#[test]
fn imprecise_fault_waits_for_its_priority() {
    let mut bench = Bench::m3();
    bench.write_register(SHCSR, 1 << 17);
    bench.core.nvic.set_priority(BUS_FAULT, 0x80);
    bench.enable(0, 0x40);
    bench.interrupt_level(0);
    super::super::pend_imprecise_bus_fault(&mut bench.core);
    assert_eq!(bench.settle(), ExceptionStepResult::None);
    assert_eq!(bench.read_register(CFSR), 1 << 10);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(16, BUS_FAULT));
    let mut bench = Bench::m3();
    super::super::pend_imprecise_bus_fault(&mut bench.core);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(HARD_FAULT));
}

#[test]
fn frame_that_cannot_be_written() {
    // BusFault enabled, priority of it, of the interrupt: what is entered first, what is left pending.
    let table = [
        (false, 0x00, 0x40, HARD_FAULT, Some(16)),
        (true, 0x20, 0x40, BUS_FAULT, Some(16)),
        (true, 0x40, 0x20, 16, Some(BUS_FAULT)),
    ];
    for (enabled, bus, interrupt, entered, pending) in table {
        let mut bench = Bench::m3();
        bench.core.nvic.set_enabled(BUS_FAULT, enabled);
        bench.core.nvic.set_priority(BUS_FAULT, bus);
        bench.enable(0, interrupt);
        let stack = bench.core.r[13];
        bench.bus.broken = stack - 0x20..stack;
        assert_eq!(bench.interrupt_level(0), ExceptionStepResult::Entered(entered));
        assert_eq!(bench.read_register(CFSR), 1 << 12, "STKERR alone, no address");
        assert_eq!(bench.read_register(HFSR), if enabled { 0 } else { FORCED });
        assert_eq!(bench.core.r[13], stack - 0x20, "the frame is counted though it was not written");
        assert!(pending.is_none_or(|number| bench.core.nvic.is_pending(number)));
    }
}

#[test]
fn frame_that_cannot_be_written_in_hard_fault_locks_up() {
    let mut bench = Bench::m3();
    bench.fault(Fault::Undefined);
    let stack = bench.core.r[13];
    bench.bus.broken = stack - 0x20..stack;
    super::super::pend_exception(&mut bench.core, NMI);
    assert_eq!(bench.settle(), ExceptionStepResult::LockedUp);
}

#[test]
fn vector_that_cannot_be_read() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x40);
    bench.bus.broken = FLASH + 0x40..FLASH + 0x44;
    assert_eq!(bench.interrupt_level(0), ExceptionStepResult::Entered(HARD_FAULT));
    assert_eq!((bench.read_register(HFSR), bench.read_register(CFSR)), (2, 0));
    let mut bench = Bench::m3();
    bench.bus.broken = FLASH + 0xc..FLASH + 0x10;
    assert_eq!(bench.fault(Fault::Undefined), ExceptionStepResult::LockedUp);
}

#[test]
fn frame_that_cannot_be_read_back_chains_into_the_fault() {
    for (enabled, expected) in [(true, BUS_FAULT), (false, HARD_FAULT)] {
        let mut bench = Bench::m3();
        bench.core.nvic.set_enabled(BUS_FAULT, enabled);
        bench.enable(0, 0x40);
        bench.interrupt_level(0);
        let stack = bench.core.r[13];
        bench.bus.broken = stack..stack + 0x20;
        assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(16, expected));
        assert_eq!(bench.read_register(CFSR), 1 << 11, "UNSTKERR");
        assert_eq!((bench.core.r[13], bench.core.r[14]), (stack, 0xffff_fff9));
    }
}

/// What an EXC_RETURN value does when it comes from a first-level handler, or from a nested one.
#[test]
fn exc_return_values() {
    let legal_m3 = |value: u32, nested: bool| match value {
        0xffff_fff1 => true,
        0xffff_fff9 | 0xffff_fffd => !nested,
        _ => false,
    };
    let legal_m4 = |value: u32, nested: bool| legal_m3(value | 0x10, nested);
    let values = (0xffff_ffe0..=0xffff_ffff).chain([0xffff_fff9 & !0x20, 0xffff_fef9, 0xf0ff_fff9]);
    for value in values {
        for nested in [false, true] {
            for (name, make, legal) in [
                ("M3", Bench::m3 as fn() -> Bench, legal_m3(value, nested)),
                ("M4", Bench::m4, legal_m4(value, nested)),
            ] {
                let mut bench = make();
                bench.write_register(SHCSR, 7 << 16);
                bench.enable(0, 0x80);
                bench.enable(1, 0x40);
                bench.interrupt_level(0);
                if nested {
                    bench.interrupt_level(1);
                }
                let number = bench.core.ipsr;
                // Frames that suit the return, so that only the value decides.
                let ipsr = if value & 0xf == 1 { 16 } else { 0 };
                let frame = RAM + 0x2000;
                for index in 0..26 {
                    bench.bus.put(frame + 4 * index, 0);
                }
                bench.bus.put(frame + 0x18, THREAD);
                bench.bus.put(frame + 0x1c, 1 << 24 | ipsr);
                bench.core.write_special_register(9, 3, frame);
                bench.core.write_special_register(8, 3, frame);
                let outcome = bench.ret(value);
                let context = format!("{name} {value:#x} nested {nested}");
                if legal {
                    assert_eq!(outcome, ExceptionStepResult::Returned(number), "{context}");
                    assert_eq!(bench.read_register(CFSR), 0, "{context}");
                } else {
                    assert_eq!(bench.core.ipsr, USAGE_FAULT, "{context}");
                    assert_eq!(bench.read_register(CFSR), 1 << 18, "{context}");
                    assert_eq!(bench.core.r[14], value | 0xf000_0000, "{context}");
                    assert!(!bench.core.nvic.is_active(number), "{context}");
                }
            }
        }
    }
}

#[test]
fn thread_mode_from_a_nested_handler_when_allowed() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ed14, ccr::NONBASETHRDENA);
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    bench.interrupt_level(0);
    bench.interrupt_level(1);
    let stack = bench.core.r[13];
    bench.bus.put(stack + 0x1c, 1 << 24);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Returned(17));
    assert_eq!((bench.core.ipsr, bench.core.nvic.is_active(16)), (0, true));
    assert_eq!(bench.core.execution_priority(), 0x80, "thread mode at the priority of what is active");
}

#[test]
fn the_stacked_ipsr_must_suit_the_return() {
    for (value, ipsr) in [(0xffff_fff9, 16), (0xffff_fff1, 0)] {
        let mut bench = Bench::m3();
        bench.write_register(SHCSR, 7 << 16);
        bench.enable(0, 0x80);
        bench.enable(1, 0x40);
        bench.interrupt_level(0);
        if value & 8 == 0 {
            bench.interrupt_level(1);
        }
        let stack = bench.core.r[13];
        bench.bus.put(stack + 0x1c, 1 << 24 | ipsr);
        bench.ret(value);
        assert_eq!((bench.core.ipsr, bench.read_register(CFSR)), (USAGE_FAULT, 1 << 18), "{value:#x}");
        assert_eq!((bench.core.r[13], bench.core.r[14]), (stack, value), "the frame is still there");
    }
}

#[test]
fn return_of_an_exception_that_is_not_active() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x80);
    bench.interrupt_level(0);
    bench.core.nvic.set_exception_active(16, false);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(16, HARD_FAULT));
    assert_eq!((bench.read_register(CFSR), bench.read_register(HFSR)), (1 << 18, FORCED));
}

#[test]
fn return_of_an_inactive_exception_to_a_handler() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    bench.interrupt_level(0);
    bench.interrupt_level(1);
    bench.core.nvic.set_exception_active(17, false);
    assert_eq!(bench.ret(0xffff_fff1), ExceptionStepResult::Chained(17, HARD_FAULT));
    assert_eq!(bench.read_register(CFSR), 1 << 18);
}

#[test]
fn return_to_arm_state_faults() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x80);
    bench.interrupt_level(0);
    let stack = bench.core.r[13];
    bench.bus.put(stack + 0x1c, 0);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Returned(16));
    assert_eq!(bench.core.request, Request::Fault(Fault::InvalidState));
}
