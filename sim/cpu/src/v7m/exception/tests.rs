//! Entry, return, tail-chaining, late arrival, priorities and masks.

mod faults;
mod float;
mod images;
mod timing;

use super::super::core::{Phase, Request};
use super::super::nvic::exception::{HARD_FAULT, NMI, PENDSV, SVCALL, SYSTICK};
use super::super::scb::{ccr, scr};
use super::super::testing::{Bench, FLASH, RAM, THREAD, handler};
use super::{Fault, pulse_line, set_line_level};
use crate::exception_outcome::ExceptionStepResult;

const CFSR: u32 = 0xe000_ed28;
const HFSR: u32 = 0xe000_ed2c;

/// The eight words at an address.
fn frame(bench: &mut Bench, address: u32) -> [u32; 8] {
    std::array::from_fn(|index| bench.bus.get(address + 4 * index as u32))
}

fn fill(bench: &mut Bench) {
    for number in 0..=12 {
        bench.core.r[number] = 0x1111_1111 * number as u32;
    }
    bench.core.r[14] = 0xcafe_0001;
    bench.core.set_condition_and_saturation_flags(0xa800_0000);
}

#[test]
fn frame_has_eight_words_in_the_manuals_order() {
    let mut bench = Bench::m3();
    fill(&mut bench);
    bench.enable(7, 0x40);
    let stack = bench.core.r[13];
    assert_eq!(bench.interrupt_level(7), ExceptionStepResult::Entered(23));
    assert_eq!(bench.core.r[13], stack - 0x20);
    let expected = [0, 0x1111_1111, 0x2222_2222, 0x3333_3333, 0xcccc_cccc, 0xcafe_0001, THREAD, 0xa900_0000];
    assert_eq!(frame(&mut bench, stack - 0x20), expected);
    let core = &bench.core;
    assert_eq!((core.next_instruction_address(), core.r[14], core.ipsr), (handler(23), 0xffff_fff9, 23));
    assert!(core.event && core.nvic.is_active(23) && !core.nvic.is_pending(23));
}

#[test]
fn return_restores_what_was_stacked() {
    let mut bench = Bench::m3();
    fill(&mut bench);
    bench.enable(7, 0x40);
    let (registers, xpsr) = (bench.core.r, bench.core.xpsr());
    bench.interrupt_level(7);
    for number in [0, 1, 2, 3, 12, 14] {
        bench.core.r[number] = 0xdead_beef;
    }
    bench.core.set_condition_and_saturation_flags(0x5000_0000);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Returned(23));
    assert_eq!((bench.core.r, bench.core.xpsr(), bench.core.next_instruction_address()), (registers, xpsr, THREAD));
    assert_eq!((bench.core.ipsr, bench.core.nvic.active_exception_count()), (0, 0));
}

#[test]
fn exc_return_selects_stack_and_mode() {
    for (psp, expected) in [(false, 0xffff_fff9), (true, 0xffff_fffd)] {
        let mut bench = Bench::m3();
        bench.core.write_special_register(9, 3, RAM + 0x4000);
        bench.core.write_special_register(20, 3, u32::from(psp) << 1);
        bench.enable(0, 0x80);
        bench.enable(1, 0x40);
        let main = bench.core.main_stack_pointer();
        bench.interrupt_level(0);
        assert_eq!(bench.core.r[14], expected);
        assert_eq!(bench.core.main_stack_pointer(), if psp { main } else { main - 0x20 });
        assert_eq!(bench.core.process_stack_pointer(), RAM + 0x4000 - if psp { 0x20 } else { 0 });
        assert_eq!(bench.core.control_register_value() & 2, 0, "handlers use MSP");
        bench.interrupt_level(1);
        assert_eq!(bench.core.r[14], 0xffff_fff1);
        assert_eq!(bench.ret(0xffff_fff1), ExceptionStepResult::Returned(17));
        assert_eq!((bench.core.ipsr, bench.core.next_instruction_address()), (16, handler(16)));
        assert_eq!(bench.ret(expected), ExceptionStepResult::Returned(16));
        assert_eq!(bench.core.control_register_value(), u32::from(psp) << 1);
        assert_eq!((bench.core.main_stack_pointer(), bench.core.process_stack_pointer()), (main, RAM + 0x4000));
    }
}

#[test]
fn frames_are_aligned_if_ccr_demands_it() {
    // SP bit 2, STKALIGN, bytes down, xPSR bit 9.
    for (odd, align, bytes, bit) in
        [(false, false, 0x20, 0), (true, false, 0x20, 0), (false, true, 0x20, 0), (true, true, 0x24, 1)]
    {
        let mut bench = Bench::m3();
        bench.core.scb.ccr = if align { ccr::STKALIGN } else { 0 };
        let stack = RAM + 0x4000 + if odd { 4 } else { 0 };
        bench.core.r[13] = stack;
        bench.enable(0, 0);
        bench.interrupt_level(0);
        let at = bench.core.r[13];
        assert_eq!(stack - at, bytes, "{odd} {align}");
        assert_eq!(frame(&mut bench, at)[7] >> 9 & 1, bit);
        bench.ret(0xffff_fff9);
        assert_eq!(bench.core.r[13], stack, "{odd} {align}");
    }
}

#[test]
fn if_then_state_and_interrupted_multiples_survive() {
    for (it, ici, stacked) in [(0x9a, 0, 0x0400_9800), (0, 5, 0x0000_5000), (0x08, 0, 0x0000_0800), (0, 0, 0)] {
        let mut bench = Bench::m3();
        (bench.core.it, bench.core.ici) = (it, ici);
        bench.enable(0, 0);
        bench.interrupt_level(0);
        assert_eq!((bench.core.it, bench.core.ici), (0, 0), "the handler begins outside");
        let at = bench.core.r[13];
        assert_eq!(frame(&mut bench, at)[7] & 0x0600_fc00, stacked, "it {it:#x} ici {ici}");
        bench.ret(0xffff_fff9);
        assert_eq!((bench.core.it, bench.core.ici), (it, ici));
    }
}

#[test]
fn exclusive_monitor_closes_on_entry_and_on_return() {
    let mut bench = Bench::m3();
    bench.enable(0, 0);
    bench.core.exclusive = true;
    bench.interrupt_level(0);
    assert!(!bench.core.exclusive);
    bench.core.exclusive = true;
    bench.ret(0xffff_fff9);
    assert!(!bench.core.exclusive);
}

#[test]
fn only_a_more_urgent_group_preempts() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x40);
    bench.enable(1, 0x40);
    bench.enable(2, 0x30);
    bench.interrupt_level(0);
    assert_eq!(bench.interrupt_level(1), ExceptionStepResult::None);
    assert_eq!(bench.interrupt_level(2), ExceptionStepResult::Entered(18));
    assert_eq!(bench.ret(0xffff_fff1), ExceptionStepResult::Returned(18));
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(16, 17));
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Returned(17));
}

#[test]
fn priority_grouping_stops_preemption() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ed0c, 0x05fa_0500);
    bench.enable(0, 0x70);
    bench.enable(1, 0x40);
    bench.enable(2, 0x30);
    bench.interrupt_level(0);
    assert_eq!(bench.interrupt_level(1), ExceptionStepResult::None, "the same group of two bits");
    assert_eq!(bench.interrupt_level(2), ExceptionStepResult::Entered(18));
}

#[test]
fn masks_block_the_right_priorities() {
    // PRIMASK, FAULTMASK, BASEPRI. Which of line 0 (priority 0), line 1 (0x40), line 2 (0x80), NMI are taken.
    let table = [
        (false, false, 0x00, [true, true, true, true]),
        (true, false, 0x00, [false, false, false, true]),
        (false, true, 0x00, [false, false, false, true]),
        (false, false, 0x40, [true, false, false, true]),
        (false, false, 0x50, [true, true, false, true]),
        (false, false, 0x80, [true, true, false, true]),
        (false, false, 0x90, [true, true, true, true]),
        (false, false, 0x0f, [true, true, true, true]),
        (true, false, 0x90, [false, false, false, true]),
    ];
    for (primask, faultmask, basepri, taken) in table {
        for (index, number) in [16, 17, 18, NMI].into_iter().enumerate() {
            let mut bench = Bench::m3();
            for (line, priority) in [(0, 0), (1, 0x40), (2, 0x80)] {
                bench.enable(line, priority);
            }
            bench.core.write_special_register(17, 3, basepri);
            bench.core.write_special_register(16, 3, u32::from(primask));
            bench.core.write_special_register(19, 3, u32::from(faultmask));
            super::pend_exception(&mut bench.core, number);
            let context = format!("PRIMASK {primask} FAULTMASK {faultmask} BASEPRI {basepri:#x} exception {number}");
            assert_eq!(bench.core.exception_to_take().is_some(), taken[index], "{context}");
            assert_eq!(bench.core.limit == 0, taken[index], "attention: {context}");
        }
    }
}

#[test]
fn basepri_masks_by_group() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ed0c, 0x05fa_0500);
    bench.enable(0, 0x40);
    bench.core.write_special_register(17, 3, 0x70);
    pulse_line(&mut bench.core, 0);
    assert_eq!(bench.core.exception_to_take(), None, "0x70 is group 0x40");
    bench.core.write_special_register(17, 3, 0x80);
    assert_eq!(bench.core.exception_to_take(), Some(16));
}

#[test]
fn basepri_max_only_tightens() {
    let mut bench = Bench::m3();
    for (write, expected) in [(0x80, 0x80), (0x90, 0x80), (0x4f, 0x40), (0x00, 0x40), (0x0f, 0x40)] {
        bench.core.write_special_register(18, 3, write);
        assert_eq!(bench.core.read_special_register(17), expected, "write {write:#x}");
    }
}

#[test]
fn unmasking_triggers_pending_interrupts() {
    type Unmask = fn(&mut Bench);
    let table: [(&str, Unmask, Unmask); 4] = [
        ("cpsie i", |b| b.core.execute_cps(true, true, false), |b| b.core.execute_cps(false, true, false)),
        ("cpsie f", |b| b.core.execute_cps(true, false, true), |b| b.core.execute_cps(false, false, true)),
        ("msr basepri", |b| b.core.write_special_register(17, 3, 0x10), |b| b.core.write_special_register(17, 3, 0)),
        ("enable", |b| b.write_register(0xe000_e180, 1), |b| b.write_register(0xe000_e100, 1)),
    ];
    for (name, mask, unmask) in table {
        let mut bench = Bench::m3();
        bench.enable(0, 0x20);
        mask(&mut bench);
        pulse_line(&mut bench.core, 0);
        assert_eq!(bench.core.limit, u64::MAX, "{name}");
        unmask(&mut bench);
        assert_eq!(bench.core.limit, 0, "{name}");
        assert_eq!(bench.settle(), ExceptionStepResult::Entered(16), "{name}");
    }
}

#[test]
fn masks_need_privilege() {
    let mut bench = Bench::m3();
    bench.core.write_special_register(20, 3, 1);
    bench.core.execute_cps(true, true, true);
    for number in [8, 9, 16, 17, 18, 19] {
        bench.core.write_special_register(number, 3, 0x51);
        assert_eq!(bench.core.read_special_register(number), 0, "SYSm {number}");
    }
    bench.core.write_special_register(20, 3, 0);
    assert_eq!(bench.core.control_register_value(), 1, "CONTROL stays as it is");
    bench.core.write_special_register(0, 2, 0xf800_0000);
    assert_eq!(bench.core.read_special_register(3), 0xf800_0000);
}

#[test]
fn faultmask_falls_on_return_except_from_nmi() {
    for (number, stays) in [(16, false), (NMI, true)] {
        let mut bench = Bench::m3();
        bench.enable(0, 0);
        super::pend_exception(&mut bench.core, number);
        bench.settle();
        bench.core.faultmask = true;
        bench.ret(0xffff_fff9);
        assert_eq!(bench.core.faultmask, stays, "exception {number}");
    }
}

#[test]
fn faultmask_cannot_be_set_in_hard_fault_but_cleared_anywhere() {
    let mut bench = Bench::m3();
    bench.core.execute_cps(true, false, true);
    assert!(bench.core.faultmask);
    bench.core.execute_cps(false, false, true);
    assert!(!bench.core.faultmask);
    bench.fault(Fault::Undefined);
    bench.core.execute_cps(true, false, true);
    assert!(!bench.core.faultmask);
}

#[test]
fn svc_is_taken_or_escalates() {
    let mut bench = Bench::m3();
    bench.core.nvic.set_priority(SVCALL, 0x40);
    assert_eq!(bench.svc(), ExceptionStepResult::Entered(SVCALL));
    for (primask, basepri) in [(true, 0), (false, 0x40), (false, 0x30)] {
        let mut bench = Bench::m3();
        bench.core.nvic.set_priority(SVCALL, 0x40);
        (bench.core.primask, bench.core.basepri) = (primask, basepri);
        assert_eq!(bench.svc(), ExceptionStepResult::Entered(HARD_FAULT), "PRIMASK {primask} BASEPRI {basepri:#x}");
        assert_eq!(bench.read_register(HFSR), 1 << 30);
        assert!(!bench.core.nvic.is_pending(SVCALL));
    }
    let mut bench = Bench::m3();
    bench.core.faultmask = true;
    assert_eq!(bench.svc(), ExceptionStepResult::LockedUp);
}

#[test]
fn late_arrival_takes_the_frame_over() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    let stack = bench.core.r[13];
    pulse_line(&mut bench.core, 0);
    assert_eq!(bench.step_at(100), ExceptionStepResult::Begun);
    pulse_line(&mut bench.core, 1);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(17));
    assert_eq!((bench.core.r[13], bench.core.r[14]), (stack - 0x20, 0xffff_fff9));
    assert!(bench.core.nvic.is_pending(16));
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(17, 16));
    assert_eq!(bench.core.r[13], stack - 0x20, "no second frame");
}

#[test]
fn pendsv_follows_the_handler_that_pends_it() {
    let mut bench = Bench::m3();
    bench.core.nvic.set_priority(PENDSV, 0xf0);
    bench.core.nvic.set_priority(SYSTICK, 0xe0);
    super::pend_exception(&mut bench.core, SYSTICK);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(SYSTICK));
    bench.write_register(0xe000_ed04, 1 << 28);
    assert_eq!(bench.settle(), ExceptionStepResult::None);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(SYSTICK, PENDSV));
    assert_eq!(bench.core.r[14], 0xffff_fff9);
}

#[test]
fn unstacking_is_aborted_by_a_more_urgent_exception() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    let stack = bench.core.r[13];
    bench.interrupt_level(0);
    bench.core.r[0] = 77;
    let back = bench.core.t;
    assert_eq!(
        super::exception_return(&mut bench.core, &mut bench.bus, 0xffff_fff9, &bench.timing),
        ExceptionStepResult::Begun
    );
    pulse_line(&mut bench.core, 1);
    assert_eq!(bench.step_at(back + 4), ExceptionStepResult::Begun);
    assert_eq!(bench.settle(), ExceptionStepResult::Chained(16, 17));
    assert_eq!(bench.core.t, back + 4 + bench.timing.tail_chain);
    assert_eq!((bench.core.r[13], bench.core.r[14]), (stack - 0x20, 0xffff_fff9), "the frame is where it was");
    bench.ret(0xffff_fff9);
    assert_eq!((bench.core.r[13], bench.core.ipsr), (stack, 0));
}

#[test]
fn interrupt_during_a_return_is_tail_chained() {
    let mut bench = Bench::m3();
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    bench.interrupt_level(0);
    let back = bench.core.t;
    let begun = super::exception_return(&mut bench.core, &mut bench.bus, 0xffff_fff9, &bench.timing);
    assert_eq!(begun, ExceptionStepResult::Begun);
    pulse_line(&mut bench.core, 1);
    assert_eq!(bench.step_at(back - 2), ExceptionStepResult::Begun);
    assert_eq!(bench.settle(), ExceptionStepResult::Chained(16, 17));
    assert_eq!(bench.core.t, back + bench.timing.tail_chain);
}

#[test]
fn sleep_on_exit_chains_into_the_next_handler() {
    let mut bench = Bench::m3();
    bench.core.scb.scr = scr::SLEEPONEXIT;
    bench.enable(0, 0x80);
    let stack = bench.core.r[13];
    bench.interrupt_level(0);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Slept(16));
    assert!(bench.core.is_asleep());
    let asleep = bench.core.t;
    pulse_line(&mut bench.core, 0);
    assert_eq!(bench.step_at(asleep + 1000), ExceptionStepResult::Begun);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(16));
    assert_eq!((bench.core.r[13], bench.core.r[14]), (stack - 0x20, 0xffff_fff9));
    assert_eq!((bench.core.sleep_cycles, bench.core.t), (1000, asleep + 1006));
    bench.core.scb.scr = 0;
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Returned(16));
    assert_eq!(bench.core.r[13], stack);
}

#[test]
fn sleep_on_exit_only_from_the_last_handler() {
    let mut bench = Bench::m3();
    bench.core.scb.scr = scr::SLEEPONEXIT;
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    bench.interrupt_level(0);
    bench.interrupt_level(1);
    assert_eq!(bench.ret(0xffff_fff1), ExceptionStepResult::Returned(17));
    // Nor when thread mode is returned to with a handler still active.
    bench.core.scb.ccr |= ccr::NONBASETHRDENA;
    bench.interrupt_level(1);
    let at = bench.core.r[13];
    bench.bus.put(at + 0x1c, 1 << 24);
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Returned(17));
}

#[test]
fn woken_by_a_masked_interrupt_out_of_sleep_on_exit_the_thread_goes_on() {
    let mut bench = Bench::m3();
    bench.core.scb.scr = scr::SLEEPONEXIT;
    bench.enable(0, 0x80);
    bench.interrupt_level(0);
    bench.core.primask = true;
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Slept(16));
    pulse_line(&mut bench.core, 0);
    assert_eq!(bench.settle(), ExceptionStepResult::Returned(0));
    assert_eq!((bench.core.ipsr, bench.core.next_instruction_address()), (0, THREAD));
    assert!(bench.core.nvic.is_pending(16));
}

#[test]
fn wfi_wakes_by_priority_whatever_primask_says() {
    // PRIMASK, BASEPRI, enabled, wakes, is taken.
    let table = [
        (false, 0x00, true, true, true),
        (true, 0x00, true, true, false),
        (false, 0x40, true, false, false),
        (true, 0x40, true, false, false),
        (false, 0x00, false, false, false),
    ];
    for (primask, basepri, enabled, wakes, taken) in table {
        let mut bench = Bench::m3();
        bench.core.nvic.set_priority(16, 0x40);
        bench.core.nvic.set_enabled(16, enabled);
        (bench.core.primask, bench.core.basepri) = (primask, basepri);
        bench.core.start_sleeping(Phase::SleepInterrupt { on_exit: None });
        pulse_line(&mut bench.core, 0);
        let now = bench.core.t + 50;
        let outcome = bench.step_at(now);
        assert_eq!(outcome == ExceptionStepResult::Woken, wakes, "PRIMASK {primask} BASEPRI {basepri:#x} {enabled}");
        assert_eq!(bench.settle() == ExceptionStepResult::Entered(16), taken);
        assert_eq!(bench.core.is_asleep(), !wakes);
    }
}

#[test]
fn wfe_wakes_on_events_and_sevonpend() {
    let mut bench = Bench::m3();
    bench.core.event = true;
    bench.core.start_sleeping(Phase::SleepEvent);
    assert_eq!(bench.settle(), ExceptionStepResult::Woken);
    assert!(!bench.core.event);
    for (sevonpend, woken) in [(false, ExceptionStepResult::None), (true, ExceptionStepResult::Woken)] {
        let mut bench = Bench::m3();
        bench.core.scb.scr = if sevonpend { scr::SEVONPEND } else { 0 };
        bench.core.event = false;
        bench.core.start_sleeping(Phase::SleepEvent);
        set_line_level(&mut bench.core, 5, true);
        assert_eq!(bench.settle(), woken, "a disabled interrupt, SEVONPEND {sevonpend}");
    }
}

#[test]
fn vector_without_the_thumb_bit_faults_at_its_first_instruction() {
    let mut bench = Bench::m3();
    bench.enable(0, 0);
    bench.bus.put(FLASH + 4 * 16, handler(16));
    assert_eq!(bench.interrupt_level(0), ExceptionStepResult::Entered(16));
    assert_eq!(bench.core.request, Request::Fault(Fault::InvalidState));
    assert_eq!(bench.core.next_instruction_address(), handler(16));
}

#[test]
fn vector_to_unmapped_memory_faults_there() {
    let mut bench = Bench::m3();
    bench.enable(0, 0);
    for (vector, fault) in [(0x3000_0001, Fault::FetchBus), (0x4000_0001, Fault::FetchProtection)] {
        bench.bus.put(FLASH + 4 * 16, vector);
        bench.interrupt_level(0);
        assert_eq!((bench.core.request, bench.core.next_instruction_address()), (Request::Fault(fault), vector - 1));
        bench.ret(0xffff_fff9);
    }
}

#[test]
fn vector_table_moves() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ed08, RAM + 0x1ff);
    assert_eq!(bench.read_register(0xe000_ed08), RAM + 0x180, "128-byte steps");
    bench.bus.put(RAM + 0x180 + 4 * NMI, (FLASH + 0x700) | 1);
    super::pend_exception(&mut bench.core, NMI);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(NMI));
    assert_eq!(bench.core.next_instruction_address(), FLASH + 0x700);
}

#[test]
fn software_frame_starts_a_task() {
    // What a kernel does: build a frame on a process stack, return to it from SVC.
    let mut bench = Bench::m3();
    bench.svc();
    let stack = RAM + 0x6000;
    for (index, word) in [10, 11, 12, 13, 14, 0x15, FLASH + 0x9000, 1 << 24].into_iter().enumerate() {
        bench.bus.put(stack + 4 * index as u32, word);
    }
    bench.core.write_special_register(9, 3, stack);
    assert_eq!(bench.ret(0xffff_fffd), ExceptionStepResult::Returned(SVCALL));
    assert_eq!(bench.core.r[..4], [10, 11, 12, 13]);
    assert_eq!((bench.core.r[12], bench.core.r[14], bench.core.r[13]), (14, 0x15, stack + 0x20));
    assert_eq!((bench.core.next_instruction_address(), bench.core.control_register_value()), (FLASH + 0x9000, 2));
}

#[test]
fn reset_keeps_time_and_lines() {
    let mut bench = Bench::m3();
    bench.enable(4, 0x10);
    set_line_level(&mut bench.core, 4, true);
    bench.write_register(CFSR + 0xc, 5);
    bench.core.reset_core();
    assert_eq!(bench.core.phase, Phase::Reset);
    assert_eq!(bench.core.t, 100);
    assert!(bench.core.nvic.is_pending(20) && !bench.core.nvic.is_enabled(20));
    assert_eq!(bench.read_register(CFSR + 0xc), 0);
}
