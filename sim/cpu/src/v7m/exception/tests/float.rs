//! Floating-point frames and lazy preservation.

use super::*;
use crate::v7m::float_context::prepare_fpu_for_instruction;
use crate::v7m::scb::fpccr;

const FPCCR: u32 = 0xe000_ef34;
const FPCAR: u32 = 0xe000_ef38;
const FPDSCR: u32 = 0xe000_ef3c;

/// A thread with floating-point state 1.0·n in S n and the interrupts 0 (0x80) and 1 (0x40) enabled.
fn bench() -> Bench {
    let mut bench = Bench::m4();
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    for number in 0..32 {
        bench.core.s[number] = 0x3f80_0000 + number as u32;
    }
    bench.core.fpscr = 0x8000_0001;
    bench.enable(0, 0x80);
    bench.enable(1, 0x40);
    bench
}

fn saved(bench: &mut Bench, frame: u32) -> [u32; 17] {
    std::array::from_fn(|index| bench.bus.get(frame + 0x20 + 4 * index as u32))
}

fn state() -> [u32; 17] {
    std::array::from_fn(|index| if index < 16 { 0x3f80_0000 + index as u32 } else { 0x8000_0001 })
}

#[test]
fn first_instruction_begins_a_context() {
    let mut bench = Bench::m4();
    bench.write_register(FPDSCR, u32::MAX);
    assert_eq!(bench.read_register(FPDSCR), 0x07c0_0000);
    bench.core.fpscr = 0xf800_009f;
    assert_eq!(prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus), Ok(()));
    assert!(bench.core.fpca && bench.core.float_ready);
    assert_eq!((bench.core.fpscr, bench.core.control_register_value()), (0xffc0_009f, 4));
    bench.core.fpscr = 0;
    bench.core.float_ready = false;
    assert_eq!(prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus), Ok(()));
    assert_eq!(bench.core.fpscr, 0, "only a new context takes the defaults");
}

#[test]
fn access_follows_cpacr_and_privilege() {
    for (cpacr, privileged, user) in [(0, false, false), (1, true, false), (2, false, false), (3, true, true)] {
        for (unprivileged, granted) in [(false, privileged), (true, user)] {
            let mut bench = Bench::m4();
            bench.write_register(0xe000_ed88, cpacr << 20 | cpacr << 22);
            bench.core.write_special_register(20, 3, u32::from(unprivileged));
            let result = prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus);
            assert_eq!(result, if granted { Ok(()) } else { Err(Fault::NoCoprocessor) }, "CPACR {cpacr}");
            assert_eq!(bench.core.float_ready, granted);
        }
    }
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ed88, u32::MAX);
    assert_eq!(bench.read_register(0xe000_ed88), 0);
    assert_eq!(prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus), Err(Fault::NoCoprocessor));
}

#[test]
fn every_loss_of_fpu_access_clears_the_shortcut() {
    type Change = fn(&mut Bench);
    let changes: [(&str, Change); 4] = [
        ("CPACR", |b| b.write_register(0xe000_ed88, 0)),
        ("CONTROL", |b| b.core.write_special_register(20, 3, 1)),
        ("FPCCR", |b| b.write_register(FPCCR, 0)),
        ("entry", |b| assert_eq!(b.interrupt_level(0), ExceptionStepResult::Entered(16))),
    ];
    for (name, change) in changes {
        let mut bench = bench();
        assert!(bench.core.float_ready);
        change(&mut bench);
        assert!(!bench.core.float_ready, "{name}");
    }
}

#[test]
fn entry_reserves_stack_space_and_keeps_the_registers() {
    let mut bench = bench();
    let stack = bench.core.r[13];
    bench.bus.seen.clear();
    bench.interrupt_level(0);
    let frame = bench.core.r[13];
    assert_eq!(stack - frame, 0x68);
    assert_eq!(bench.core.r[14], 0xffff_ffe9);
    assert_eq!(bench.bus.seen.iter().filter(|seen| seen.write).count(), 8);
    assert_eq!(bench.read_register(FPCAR), frame + 0x20);
    let always = fpccr::ASPEN | fpccr::LSPEN | fpccr::THREAD | fpccr::HFRDY | fpccr::LSPACT;
    assert_eq!(bench.read_register(FPCCR), always);
    assert_eq!(bench.core.control_register_value() & 4, 0);
    // Returning without a floating-point instruction costs nothing and keeps the registers.
    bench.core.s[3] = 0x7777;
    bench.ret(0xffff_ffe9);
    assert_eq!((bench.core.r[13], bench.core.s[3], bench.core.control_register_value()), (stack, 0x7777, 4));
    assert_eq!(bench.read_register(FPCCR) & fpccr::LSPACT, 0);
}

#[test]
fn reservation_records_which_faults_can_be_taken() {
    // SHCSR, DEMCR, active priority: bits besides HFRDY.
    let table = [
        (7 << 16, 0, 0x80, fpccr::BFRDY | fpccr::MMRDY),
        (1 << 17, 0, 0x80, fpccr::BFRDY),
        (1 << 16, 0, 0x80, fpccr::MMRDY),
        (7 << 16, 0, 0x40, fpccr::MMRDY),
        (0, 1 << 16, 0x80, fpccr::MONRDY),
    ];
    for (shcsr, demcr, active, expected) in table {
        let mut bench = bench();
        bench.write_register(0xe000_ed24, shcsr);
        bench.write_register(0xe000_edfc, demcr);
        bench.write_register(0xe000_ed18, 0x0000_5030);
        bench.enable(2, active);
        bench.core.nvic.set_exception_active(18, true);
        bench.enable(3, 0x10);
        bench.interrupt_level(3);
        let rest = fpccr::ASPEN | fpccr::LSPEN | fpccr::THREAD | fpccr::HFRDY | fpccr::LSPACT;
        assert_eq!(bench.read_register(FPCCR) & !rest, expected, "SHCSR {shcsr:#x} active {active:#x}");
    }
}

#[test]
fn first_instruction_of_a_handler_preserves_the_thread() {
    let mut bench = bench();
    bench.interrupt_level(0);
    let (frame, t) = (bench.core.r[13], bench.core.t);
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    assert_eq!(bench.core.t - t, 17);
    assert_eq!(saved(&mut bench, frame), state());
    assert_eq!(bench.read_register(FPCCR) & fpccr::LSPACT, 0);
    assert_eq!(bench.core.fpscr, 0x8000_0001 & !0x07c0_0000);
    bench.core.s[..16].fill(0);
    bench.core.fpscr = 0;
    bench.ret(0xffff_ffe9);
    assert_eq!((bench.core.s[..16].to_vec(), bench.core.fpscr), (state()[..16].to_vec(), state()[16]));
    assert_eq!(bench.core.s[16], 0x3f80_0010, "S16 and up belong to the callee");
}

#[test]
fn memory_waits_lengthen_preservation() {
    let mut bench = bench();
    bench.interrupt_level(0);
    bench.bus.ram_wait = 3;
    let t = bench.core.t;
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    assert_eq!(bench.core.t - t, 17 * 4);
}

#[test]
fn nested_handlers_each_have_their_frame() {
    let mut bench = bench();
    bench.interrupt_level(0);
    let outer = bench.core.r[13];
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    bench.core.s[..16].fill(0xaaaa);
    bench.interrupt_level(1);
    let inner = bench.core.r[13];
    assert_eq!((outer - inner, bench.core.r[14]), (0x68, 0xffff_ffe1));
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    bench.core.s[..16].fill(0xbbbb);
    assert_eq!(saved(&mut bench, outer), state());
    assert_eq!(saved(&mut bench, inner)[..16], [0xaaaa; 16]);
    bench.ret(0xffff_ffe1);
    assert_eq!(bench.core.s[..16], [0xaaaa; 16]);
    bench.ret(0xffff_ffe9);
    assert_eq!(bench.core.s[..16], state()[..16]);
}

#[test]
fn nested_handler_preserves_the_state_of_two_levels_below() {
    // The first handler uses no floating point: its frame is basic, and the thread's state is still due.
    let mut bench = bench();
    bench.interrupt_level(0);
    let outer = bench.core.r[13];
    bench.interrupt_level(1);
    assert_eq!((outer - bench.core.r[13], bench.core.r[14]), (0x20, 0xffff_fff1));
    assert_eq!(bench.read_register(FPCAR), outer + 0x20);
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    assert_eq!(saved(&mut bench, outer), state());
    bench.core.s[..16].fill(0xbbbb);
    bench.ret(0xffff_fff1);
    assert_eq!(bench.core.control_register_value() & 4, 0);
    bench.ret(0xffff_ffe9);
    assert_eq!(bench.core.s[..16], state()[..16]);
    assert_eq!(bench.core.control_register_value() & 4, 4);
}

#[test]
fn registers_are_saved_immediately_without_lazy_preservation() {
    let mut bench = bench();
    bench.write_register(FPCCR, fpccr::ASPEN);
    bench.interrupt_level(0);
    let frame = bench.core.r[13];
    assert_eq!(saved(&mut bench, frame), state());
    bench.core.s[..16].fill(0);
    bench.ret(0xffff_ffe9);
    assert_eq!(bench.core.s[..16], state()[..16]);
}

#[test]
fn without_automatic_state_frames_stay_basic() {
    let mut bench = Bench::m4();
    bench.write_register(FPCCR, 0);
    bench.enable(0, 0x80);
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    assert!(!bench.core.fpca);
    bench.interrupt_level(0);
    assert_eq!(bench.core.r[14], 0xffff_fff9);
}

#[test]
fn floating_point_frames_are_always_aligned() {
    let mut bench = bench();
    bench.core.scb.ccr &= !ccr::STKALIGN;
    bench.core.r[13] += 4;
    let stack = bench.core.r[13];
    bench.interrupt_level(0);
    assert_eq!(stack - bench.core.r[13], 0x6c);
    bench.ret(0xffff_ffe9);
    assert_eq!(bench.core.r[13], stack);
}

#[test]
fn preservation_that_fails_is_a_fault_of_the_instruction() {
    let mut bench = bench();
    bench.interrupt_level(0);
    let frame = bench.core.r[13];
    bench.bus.broken = frame + 0x20..frame + 0x68;
    assert_eq!(prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus), Err(Fault::LazyBus));
    assert!(!bench.core.float_ready && !bench.core.fpca);
    assert_eq!(bench.read_register(FPCCR) & fpccr::LSPACT, 1, "it is still due");
}

#[test]
fn frame_needs_access_when_it_is_written_at_once() {
    let mut bench = bench();
    bench.write_register(FPCCR, fpccr::ASPEN);
    bench.write_register(0xe000_ed88, 0);
    assert_eq!(bench.interrupt_level(0), ExceptionStepResult::Entered(HARD_FAULT));
    assert_eq!(bench.read_register(CFSR), 1 << 19);
    // Nor read back.
    let mut bench = self::bench();
    bench.write_register(FPCCR, fpccr::ASPEN);
    bench.interrupt_level(0);
    bench.write_register(0xe000_ed88, 0);
    assert_eq!(bench.ret(0xffff_ffe9), ExceptionStepResult::Chained(16, HARD_FAULT));
    assert_eq!(bench.read_register(CFSR), 1 << 19);
}

#[test]
fn context_switch_of_a_kernel_moves_both_halves() {
    // PendSV of a Cortex-M4F port: task A with floating point out, task B without in, and back.
    let mut bench = bench();
    bench.core.write_special_register(9, 3, RAM + 0x4000);
    bench.core.write_special_register(20, 3, 2 | 4);
    bench.core.nvic.set_priority(PENDSV, 0xf0);
    super::super::pend_exception(&mut bench.core, PENDSV);
    bench.settle();
    let (a, lr) = (bench.core.process_stack_pointer(), bench.core.r[14]);
    assert_eq!((RAM + 0x4000 - a, lr), (0x68, 0xffff_ffed));
    // tst lr, #16; it eq; vstmdbeq r0!, {s16-s31}: a floating-point instruction, which preserves the lower half.
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    let upper: Vec<u32> = bench.core.s[16..].to_vec();
    // Task B: a basic frame built by the kernel.
    let b = RAM + 0x5000;
    for (index, word) in [1, 2, 3, 4, 5, 6, THREAD + 0x100, 1 << 24].into_iter().enumerate() {
        bench.bus.put(b + 4 * index as u32, word);
    }
    bench.core.write_special_register(9, 3, b);
    assert_eq!(bench.ret(0xffff_fffd), ExceptionStepResult::Returned(PENDSV));
    assert_eq!((bench.core.control_register_value(), bench.core.next_instruction_address()), (2, THREAD + 0x100));
    // B uses floating point now: a context of its own.
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    bench.core.s.fill(0xbbbb);
    super::super::pend_exception(&mut bench.core, PENDSV);
    bench.settle();
    assert_eq!(bench.core.r[14], 0xffff_ffed);
    prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus).expect("access");
    bench.core.s[16..].copy_from_slice(&upper);
    bench.core.write_special_register(9, 3, a);
    assert_eq!(bench.ret(lr), ExceptionStepResult::Returned(PENDSV));
    let all: Vec<u32> = (0..32).map(|number| 0x3f80_0000 + number).collect();
    assert_eq!((bench.core.s.to_vec(), bench.core.fpscr), (all, 0x8000_0001));
}
