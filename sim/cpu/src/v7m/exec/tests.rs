//! Tests of instructions that leave the straight line: faults, branches to strange places, giving way, IT blocks.
//! (What they compute is compared with an independent implementation, in the Python tests.)

use crate::profile::ProfileCell;
use crate::step::watch;
use crate::v7m::core::{Phase, Request};
use crate::v7m::exec;
use crate::v7m::fault::Fault;
use crate::v7m::pipeline::m3m4::CortexM3;
use crate::v7m::testing::{Bench, RAM, THREAD};

const DATA: u32 = RAM + 0x100;

impl Bench {
    /// Puts code at [`THREAD`] and the core before it.
    fn code(mut self, halves: &[u16]) -> Bench {
        for (index, pair) in halves.chunks(2).enumerate() {
            let word = u32::from(pair[0]) | u32::from(*pair.get(1).unwrap_or(&0xde00)) << 16;
            self.bus.put(THREAD + 4 * index as u32, word);
        }
        self.bus.put(THREAD + 4 * halves.len().div_ceil(2) as u32, 0xde00_de00);
        self.bus.seen.clear();
        self
    }

    /// Executes up to `cycles` cycles. Returns the executor's request.
    fn execute(&mut self, cycles: u64) -> Request {
        self.core.request = Request::None;
        self.core.limit = self.core.t + cycles;
        // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
        unsafe { exec::run_until_limit(&mut self.core, &mut self.pipe, &mut self.bus, watch::NOTHING) };
        self.core.request
    }

    fn loads(&self) -> Vec<u32> {
        self.bus.seen.iter().filter(|seen| !seen.write).map(|seen| seen.address).collect()
    }
}

#[test]
fn branch_to_an_even_address_faults_at_its_target() {
    let mut bench = Bench::m4().code(&[0x4708]); // bx r1
    bench.core.r[1] = THREAD + 0x100;
    assert_eq!(bench.execute(9), Request::Fault(Fault::InvalidState));
    assert_eq!(
        (bench.core.next_instruction_address(), bench.core.thumb, bench.core.instructions),
        (THREAD + 0x100, false, 1)
    );
    assert_eq!(bench.execute(9), Request::Fault(Fault::InvalidState), "and again as long as T is clear");
}

#[test]
fn branch_to_no_memory_faults_at_its_target() {
    for (target, fault) in [(0x3000_0001, Fault::FetchBus), (0x4000_0001, Fault::FetchProtection)] {
        let mut bench = Bench::m4().code(&[0x4708]);
        bench.core.r[1] = target;
        assert_eq!(bench.execute(9), Request::Fault(fault));
        assert_eq!((bench.core.next_instruction_address(), bench.core.instructions), (target & !1, 1));
    }
}

#[test]
fn exception_return_is_one_in_handler_mode_only() {
    let mut bench = Bench::m4().code(&[0x4708]);
    (bench.core.r[1], bench.core.ipsr) = (0xffff_fff9, 20);
    assert_eq!(bench.execute(9), Request::ExceptionReturn(0xffff_fff9));

    let mut bench = Bench::m4().code(&[0xbd00]); // pop {pc}
    (bench.core.r[13], bench.core.ipsr) = (DATA, 20);
    bench.bus.put(DATA, 0xffff_ffe9);
    assert_eq!(bench.execute(9), Request::ExceptionReturn(0xffff_ffe9));
    assert_eq!(bench.core.r[13], DATA + 4);

    let mut bench = Bench::m4().code(&[0x4708]);
    bench.core.r[1] = 0xffff_fff9;
    assert_eq!(bench.execute(9), Request::Fault(Fault::FetchProtection));
    // BLX and MOV PC never are one.
    let mut bench = Bench::m4().code(&[0x4788]);
    (bench.core.r[1], bench.core.ipsr) = (0xffff_fff9, 20);
    assert_eq!(bench.execute(9), Request::Fault(Fault::FetchProtection));
}

#[test]
fn traps_leave_their_request_and_the_right_address() {
    let mut bench = Bench::m4().code(&[0xdf07]); // svc
    assert_eq!(bench.execute(9), Request::Svc);
    assert_eq!(bench.core.next_instruction_address(), THREAD + 2);
    for (code, fault) in [(0xbe00, Fault::Breakpoint), (0xde00, Fault::Undefined)] {
        let mut bench = Bench::m4().code(&[0xbf00, code]);
        assert_eq!(bench.execute(9), Request::Fault(fault));
        assert_eq!((bench.core.next_instruction_address(), bench.core.instructions), (THREAD + 2, 1));
    }
}

#[test]
fn floating_point_needs_an_fpu_and_access_to_it() {
    let vadd = [0xee30, 0x0a00];
    assert_eq!(Bench::m3().code(&vadd).execute(9), Request::Fault(Fault::NoCoprocessor));
    let mut bench = Bench::m4().code(&[vadd[0], vadd[1], 0xbf00]);
    assert_eq!(bench.execute(2), Request::None);
    assert!(bench.core.fpca, "the first instruction begins a context");
    let mut bench = Bench::m4().code(&vadd);
    bench.write_register(0xe000_ed88, 0);
    assert_eq!(bench.execute(9), Request::Fault(Fault::NoCoprocessor));
    // What the FPU does not know is undefined only if access is granted: a double on the M4.
    let double = [0xee30, 0x0b00];
    assert_eq!(Bench::m4().code(&double).execute(9), Request::Fault(Fault::Undefined));
    let mut bench = Bench::m4().code(&double);
    bench.write_register(0xe000_ed88, 0);
    assert_eq!(bench.execute(9), Request::Fault(Fault::NoCoprocessor));
}

#[test]
fn faulting_access_changes_no_register() {
    // ldr r0, [r1, #4]!; ldrd r0, r2, [r1], #8; str r0, [r1], #4; push {r0-r3}; vldmia r1!, {s0-s3}
    let cases: [&[u16]; 5] = [&[0xf851, 0x0f04], &[0xe8f1, 0x0202], &[0xf841, 0x0b04], &[0xb40f], &[0xecb1, 0x0a04]];
    for code in cases {
        let mut bench = Bench::m4().code(code);
        bench.core.r = [7; 256];
        (bench.core.r[1], bench.core.r[13]) = (RAM + 0xfffc, RAM + 0xfffc + 16);
        bench.bus.broken = RAM + 0xfffc..RAM + 0x1_0010;
        let before = bench.core.r;
        assert!(matches!(bench.execute(9), Request::Fault(Fault::DataBus(_))), "{code:04x?}");
        assert_eq!(
            (bench.core.r, bench.core.next_instruction_address(), bench.core.instructions),
            (before, THREAD, 0),
            "{code:04x?}"
        );
    }
}

#[test]
fn fault_in_a_multiple_load_leaves_the_base() {
    // ldmia r1, {r0, r1, r2}: the last word has no memory after it.
    let mut bench = Bench::m4().code(&[0xe891, 0x0007]);
    bench.core.r[1] = RAM + 0xfff8;
    assert_eq!(bench.execute(9), Request::Fault(Fault::DataBus(RAM + 0x1_0000)));
    assert_eq!((bench.core.r[1], bench.core.next_instruction_address()), (RAM + 0xfff8, THREAD));
}

#[test]
fn private_peripheral_bus_takes_no_unaligned_access() {
    let mut bench = Bench::m4().code(&[0x6808]); // ldr r0, [r1]
    bench.core.r[1] = 0xe000_ed01;
    assert_eq!(bench.execute(9), Request::Fault(Fault::Unaligned));
}

#[test]
fn division_by_zero_traps_on_demand() {
    let code = [0xfb90, 0xf0f1, 0xbf00]; // sdiv r0, r0, r1
    let mut bench = Bench::m4().code(&code);
    (bench.core.r[0], bench.core.r[1]) = (5, 0);
    assert_eq!(bench.execute(1), Request::None);
    assert_eq!(bench.core.r[0], 0);
    let mut bench = Bench::m4().code(&code);
    bench.core.scb.ccr |= 1 << 4;
    assert_eq!(bench.execute(1), Request::Fault(Fault::DivideByZero));
}

#[test]
fn division_beyond_the_time_limit_waits() {
    let mut bench = Bench::m3().code(&[0xfb90, 0xf0f1, 0xbf00]);
    (bench.core.r[0], bench.core.r[1]) = (u32::MAX / 3, 3);
    let mut pipe = CortexM3::with_default_timing_rules();
    bench.core.limit = bench.core.t + 4;
    // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
    unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
    let Request::Abandonable(end) = bench.core.request else { panic!("{:?}", bench.core.request) };
    assert!(end > bench.core.limit);
    assert_eq!((bench.core.instructions, bench.core.next_instruction_address()), (0, THREAD));

    (bench.core.request, bench.core.committed) = (Request::None, true);
    // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
    unsafe { exec::run_until_limit(&mut bench.core, &mut pipe, &mut bench.bus, watch::NOTHING) };
    assert_eq!((bench.core.request, bench.core.committed), (Request::None, false));
    assert_eq!((bench.core.r[0], bench.core.t, bench.core.instructions), (u32::MAX / 9, end, 1));
}

#[test]
fn multiple_load_is_interrupted_between_words_and_continued() {
    let mut bench = Bench::m4().code(&[0xc93c, 0xbf00]); // ldm r1!, {r2-r5}
    bench.bus.ram_wait = 1;
    bench.core.r[1] = DATA;
    for n in 0..4 {
        bench.bus.put(DATA + 4 * n, 0x11 * (n + 1));
    }
    assert_eq!(bench.execute(2), Request::None);
    assert_eq!((bench.core.ici, bench.core.words_moved, bench.core.instructions), (4, 2, 0));
    assert_eq!((bench.core.r[1], bench.core.r[3]), (DATA, 0x22));
    bench.execute(3);
    assert_eq!(bench.loads(), [DATA, DATA + 4, DATA + 8, DATA + 12]);
    assert_eq!((bench.core.r[1], bench.core.r[5], bench.core.instructions), (DATA + 16, 0x44, 1));
}

#[test]
fn multiple_load_continues_at_the_ici_position() {
    let mut bench = Bench::m4().code(&[0xc93c, 0xbf00]);
    (bench.core.r[1], bench.core.ici) = (DATA, 4);
    bench.execute(1);
    assert_eq!(bench.loads(), [DATA + 8, DATA + 12]);
    assert_eq!(bench.core.r[1], DATA + 16);
}

#[test]
fn multiple_load_of_its_base_or_pc_restarts() {
    // ldmia r2, {r1, r2, r3}; pop {r0, r1, pc}
    for (code, base) in [([0xe892, 0x000e], 2), ([0xbd03, 0xbf00], 13)] {
        let mut bench = Bench::m4().code(&code);
        (bench.core.r[base], bench.core.ici) = (DATA, 3);
        bench.bus.put(DATA + 8, THREAD | 1);
        bench.execute(1);
        assert_eq!(bench.loads(), [DATA, DATA + 4, DATA + 8], "{code:04x?}");
    }
}

#[test]
fn in_an_it_block_a_multiple_load_has_no_ici() {
    let mut bench = Bench::m4().code(&[0xbf08, 0xc93c, 0xbf00]); // it eq. Ldmeq
    bench.bus.ram_wait = 1;
    (bench.core.r[1], bench.core.nz) = (DATA, 0);
    bench.execute(3);
    assert_eq!((bench.core.it, bench.core.ici, bench.core.words_moved), (0x08, 0, 2));
    bench.execute(3);
    assert_eq!((bench.core.it, bench.core.r[1]), (0, DATA + 16));
}

#[test]
fn forbidden_instruction_in_an_it_block_is_undefined() {
    // B and BX before the block's end, B<c>, CBZ, CPS, IT. The same branches as its last instruction are fine.
    for half in [0xe000, 0x4708, 0xd000, 0xb100, 0xb672, 0xbf08] {
        let mut bench = Bench::m4().code(&[0xbf04, half, 0xbf00]);
        bench.core.nz = 0;
        assert_eq!(bench.execute(9), Request::Fault(Fault::Undefined), "{half:04x}");
        assert_eq!((bench.core.next_instruction_address(), bench.core.it), (THREAD + 2, 0x04), "{half:04x}");
    }
    let mut bench = Bench::m4().code(&[0xbf08, 0xe000, 0xde00, 0xbf00]);
    bench.core.nz = 0;
    assert_eq!(bench.execute(2), Request::None);
    assert_eq!((bench.core.next_instruction_address(), bench.core.it), (THREAD + 6, 0));
}

#[test]
fn fault_in_an_it_block_keeps_its_state() {
    let mut bench = Bench::m4().code(&[0xbf0c, 0x6808, 0x2001]); // ite eq; ldreq r0, [r1]; movne r0, #1
    (bench.core.r[1], bench.core.nz) = (0x3000_0000, 0);
    assert_eq!(bench.execute(9), Request::Fault(Fault::DataBus(0x3000_0000)));
    assert_eq!((bench.core.it, bench.core.next_instruction_address()), (0x0c, THREAD + 2));
}

#[test]
fn sleep_and_events() {
    let mut bench = Bench::m4().code(&[0xbf40, 0xbf20, 0xbf20, 0xbf30]); // sev; wfe; wfe; wfi
    bench.execute(9);
    assert_eq!((bench.core.phase, bench.core.next_instruction_address()), (Phase::SleepEvent, THREAD + 6));
    bench.core.phase = Phase::Run;
    bench.execute(9);
    assert_eq!(
        (bench.core.phase, bench.core.next_instruction_address()),
        (Phase::SleepInterrupt { on_exit: None }, THREAD + 8)
    );
}

#[test]
fn special_registers_and_masks() {
    // msr basepri, r0; cpsid if; mrs r1, basepri; mrs r2, faultmask; cpsie f; mrs r3, faultmask
    let code = [
        0xf380, 0x8811, 0xb673, 0xf3ef, 0x8111, 0xf3ef, 0x8213, 0xb661, 0xf3ef, 0x8313, //
    ];
    let mut bench = Bench::m4().code(&code);
    bench.core.r[0] = 0x5f;
    assert_eq!(bench.execute(9), Request::Fault(Fault::Undefined), "behind the code");
    assert_eq!(bench.core.r[1..4], [0x50, 1, 0]);
    assert!(bench.core.primask);
}

#[test]
fn mpu_checks_accesses_and_execution() {
    // A region of 32 bytes of flash that may execute, RAM that user code may not touch.
    let mut bench = Bench::m4().code(&[0x6808, 0xf851, 0x0e00, 0xbf00]); // ldr r0, [r1]; ldrt r0, [r1]
    bench.core.r[1] = DATA;
    for (number, base, rasr) in [(0, THREAD, 4 << 1 | 6 << 24 | 1), (1, RAM, 15 << 1 | 1 << 24 | 1)] {
        bench.write_register(0xe000_ed98, number);
        bench.write_register(0xe000_ed9c, base);
        bench.write_register(0xe000_eda0, rasr);
    }
    bench.write_register(0xe000_ed94, 1);
    crate::v7m::exception::look_up_code_region(&mut bench.core, &mut bench.bus);
    assert_eq!(bench.execute(1), Request::None);
    assert_eq!(bench.execute(1), Request::Fault(Fault::DataProtection(DATA)));
    assert!(!bench.core.as_user);

    // Straight on from one region into what no region covers.
    for address in (THREAD..THREAD + 64).step_by(4) {
        bench.bus.put(address, 0xbf00_bf00);
    }
    let mut bench = Bench { core: bench.core, bus: bench.bus, pipe: bench.pipe, timing: bench.timing };
    bench.core.request = Request::None;
    let nops = bench.core.region.ops;
    // SAFETY: the part has 16 ops; they are decoded anew.
    unsafe { std::slice::from_raw_parts_mut(nops, 16).fill(Default::default()) };
    crate::v7m::exception::jump_to_interworking_address(&mut bench.core, &mut bench.bus, THREAD | 1);
    assert_eq!(bench.execute(99), Request::Fault(Fault::FetchProtection));
    assert_eq!(bench.core.next_instruction_address(), THREAD + 32);
}

#[test]
fn profiles_count_each_instruction_at_its_address() {
    let mut bench = Bench::m4().code(&[0x2003, 0x3801, 0xd1fd, 0xbf00]); // movs r0, #3; subs r0, #1; bne
    let mut cells = vec![ProfileCell::default(); 0x8000];
    bench.core.region.profile = cells.as_mut_ptr();
    bench.core.limit = bench.core.t + 8;
    // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
    unsafe { exec::run_until_limit(&mut bench.core, &mut bench.pipe, &mut bench.bus, watch::PROFILE) };
    let first = (bench.core.next_instruction_address() - bench.core.region.base) as usize / 2 - 4;
    let counted: Vec<_> = cells[first..first + 4].iter().map(|cell| (cell.executions, cell.cycles)).collect();
    assert_eq!(counted, [(1, 1), (3, 3), (3, 3), (1, 1)]);
}
