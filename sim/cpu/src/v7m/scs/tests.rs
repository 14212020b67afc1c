//! Registers of the private peripheral bus.

use super::super::cache::{Line, Operation};
use super::super::core::{Core, Features};
use super::super::dwt;
use super::super::exception::set_line_level;
use super::super::nvic::exception::{BUS_FAULT, MEM_MANAGE, NMI, PENDSV, SVCALL, SYSTICK, USAGE_FAULT};
use super::super::testing::Bench;
use super::{Fault, PrivateBusWriteEffect, read_register, write_register};
use crate::exception_outcome::ExceptionStepResult;

const ICSR: u32 = 0xe000_ed04;
const SHCSR: u32 = 0xe000_ed24;

/// Registers that keep what is written: address, bits kept on M3, M4F and M7.
#[test]
fn plain_registers_keep_their_bits() {
    let table = [
        (0xe000_e008, [u32::MAX; 3]),
        (0xe000_ed08, [0x3fff_ff80, 0xffff_ff80, 0xffff_ff80]),
        (0xe000_ed10, [0x16; 3]),
        (0xe000_ed14, [0x31b, 0x31b, 0x7_031b]),
        (0xe000_ed18, [0x00f0_f0f0; 3]),
        (0xe000_ed1c, [0xf000_0000; 3]),
        (0xe000_ed20, [0xf0f0_00f0; 3]),
        (0xe000_ed34, [u32::MAX; 3]),
        (0xe000_ed38, [u32::MAX; 3]),
        (0xe000_ed88, [0, 0x00f0_0000, 0x00f0_0000]),
        (0xe000_ef34, [0, 0xc000_017b, 0xc000_017b]),
        (0xe000_ef38, [0, 0xffff_fff8, 0xffff_fff8]),
        (0xe000_ef3c, [0, 0x07c0_0000, 0x07c0_0000]),
        (0xe000_e014, [0x00ff_ffff; 3]),
        (0xe000_e400, [0xf0f0_f0f0; 3]),
        (0xe000_ed3c, [0; 3]),
        (0xe000_edf0, [0; 3]),
    ];
    for (address, kept) in table {
        for (mut bench, kept) in [Bench::m3(), Bench::m4(), Bench::m7()].into_iter().zip(kept) {
            bench.write_register(address, u32::MAX);
            let part = bench.core.features.cpuid;
            assert_eq!(bench.read_register(address), kept, "{address:#x} of {part:#x}");
        }
    }
}

#[test]
fn values_at_reset() {
    let table = [
        (0xe000_e004, [1, 2, 3]),
        (0xe000_e010, [0; 3]),
        (0xe000_e01c, [9_000, 18_750, 18_750]),
        (0xe000_ed00, [0x411f_c231, 0x410f_c241, 0x411f_c270]),
        (0xe000_ed0c, [0xfa05_0000; 3]),
        (0xe000_ed14, [0, 0x200, 0x4_0200]),
        (0xe000_ed24, [0; 3]),
        (0xe000_ed28, [0; 3]),
        (0xe000_ed2c, [0; 3]),
        (0xe000_ed48, [0x0010_0000; 3]),
        (0xe000_ed90, [0, 0x800, 0x800]),
        (0xe000_ef34, [0, 0xc000_0000, 0xc000_0000]),
        (0xe000_ef40, [0, 0x1011_0021, 0x1011_0221]),
        (0xe000_ef44, [0, 0x1100_0011, 0x1200_0011]),
        (0xe000_ef48, [0, 0, 0x40]),
        (0xe000_1000, [0x4000_0000; 3]),
        (0xe000_1fb4, [0, 0, 3]),
        (0xe000_0000, [1; 3]),
    ];
    let make = [Features::CORTEX_M3, Features::CORTEX_M4F, Features::CORTEX_M7];
    for (address, expected) in table {
        for (features, expected) in make.into_iter().zip(expected) {
            let mut core = Core::new(features);
            assert_eq!(read_register(&mut core, address, 4, 0), Ok(expected), "{address:#x} of {:#x}", features.cpuid);
        }
    }
}

#[test]
fn fault_status_is_cleared_by_writing_ones() {
    let mut bench = Bench::m3();
    (bench.core.scb.cfsr, bench.core.scb.hfsr, bench.core.scb.dfsr) = (0x030f_bfbb, 0xc000_0002, 0x1f);
    bench.write_register(0xe000_ed28, 0x0101_8080);
    assert_eq!(bench.read_register(0xe000_ed28), 0x020e_3f3b);
    bench.write_register(0xe000_ed2c, 0x4000_0000);
    assert_eq!(bench.read_register(0xe000_ed2c), 0x8000_0002);
    bench.write_register(0xe000_ed30, 0x2);
    assert_eq!(bench.read_register(0xe000_ed30), 0x1d);
    // Byte and halfword views of CFSR.
    let t = bench.core.t;
    assert_eq!(read_register(&mut bench.core, 0xe000_ed28, 1, t), Ok(0x3b));
    assert_eq!(read_register(&mut bench.core, 0xe000_ed29, 1, t), Ok(0x3f));
    assert_eq!(read_register(&mut bench.core, 0xe000_ed2a, 2, t), Ok(0x020e));
    write_register(&mut bench.core, 0xe000_ed2a, 2, 0xffff, t).expect("writable");
    assert_eq!(bench.read_register(0xe000_ed28), 0x3f3b);
}

#[test]
fn priorities_are_written_by_byte() {
    let mut bench = Bench::m3();
    bench.write_byte(0xe000_ed22, 0xff);
    assert_eq!(bench.read_register(0xe000_ed20), 0x00f0_0000);
    assert_eq!(bench.core.nvic.priority_of(PENDSV), 0xf0);
    bench.write_byte(0xe000_e405, 0x70);
    assert_eq!(bench.core.nvic.priority_of(21), 0x70);
    let t = bench.core.t;
    assert_eq!(read_register(&mut bench.core, 0xe000_e405, 1, t), Ok(0x70));
}

#[test]
fn icsr_pends_and_shows() {
    let mut bench = Bench::m3();
    bench.core.primask = true;
    bench.write_register(ICSR, 1 << 28 | 1 << 26);
    assert_eq!(
        bench.read_register(ICSR),
        1 << 28 | 1 << 26 | PENDSV << 12 | 1 << 11,
        "PRIMASK does not hide VECTPENDING"
    );
    bench.write_register(ICSR, 1 << 27);
    assert_eq!(bench.read_register(ICSR) >> 12 & 0x1ff, SYSTICK);
    bench.write_register(ICSR, 1 << 28 | 1 << 27 | 1 << 25);
    assert_eq!(bench.read_register(ICSR) >> 25, 1 << 3, "setting wins over clearing");
    bench.core.nvic.set_priority(PENDSV, 0x80);
    bench.core.basepri = 0x80;
    assert_eq!(bench.read_register(ICSR) >> 12 & 0x1ff, 0, "BASEPRI hides it");
    bench.core.basepri = 0;
    set_line_level(&mut bench.core, 40, true);
    assert_eq!(bench.read_register(ICSR) >> 22 & 1, 1, "a disabled interrupt is pending");
    bench.write_register(ICSR, 1 << 31);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(NMI));
    assert_eq!(bench.read_register(ICSR) & 0x9ff, NMI | 1 << 11);
    bench.enable(0, 0);
    bench.core.nvic.set_exception_active(16, true);
    assert_eq!(bench.read_register(ICSR) & 0x800, 0, "not the only active exception");
}

#[test]
fn shcsr_shows_and_sets() {
    let mut bench = Bench::m3();
    bench.write_register(SHCSR, 7 << 16);
    for number in [MEM_MANAGE, BUS_FAULT, USAGE_FAULT] {
        assert!(bench.core.nvic.is_enabled(number));
    }
    bench.write_register(SHCSR, u32::MAX);
    assert_eq!(bench.read_register(SHCSR), 0x0007_fd8b);
    bench.write_register(SHCSR, 0);
    assert_eq!((bench.read_register(SHCSR), bench.core.nvic.active_exception_count()), (0, 0));
    assert_eq!(bench.svc(), ExceptionStepResult::Entered(SVCALL));
    assert_eq!(bench.read_register(SHCSR), 1 << 7);
}

#[test]
fn aircr_needs_its_key() {
    let mut bench = Bench::m3();
    for value in [0x0000_0704, 0x05fb_0704, 0xfa05_0704] {
        bench.write_register(0xe000_ed0c, value);
        assert_eq!((bench.read_register(0xe000_ed0c), bench.core.scb.reset_request), (0xfa05_0000, false));
    }
    bench.write_register(0xe000_ed0c, 0x05fa_0300);
    assert_eq!(bench.read_register(0xe000_ed0c), 0xfa05_0300);
    bench.enable(0, 0);
    bench.interrupt_level(0);
    bench.write_register(0xe000_ed0c, 0x05fa_0302);
    assert_eq!((bench.core.nvic.active_exception_count(), bench.core.ipsr), (0, 0), "VECTCLRACTIVE");
    bench.write_register(0xe000_ed0c, 0x05fa_0304);
    assert!(bench.core.scb.reset_request);
    assert_eq!(bench.core.limit, 0);
}

#[test]
fn stir_pends_and_may_be_open_to_all() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_ef00, 42);
    assert!(bench.core.nvic.is_pending(58));
    bench.write_register(0xe000_ef00, 43);
    assert!(!bench.core.nvic.is_pending(59), "line 43 does not exist");
    bench.core.unprivileged = true;
    let t = bench.core.t;
    assert_eq!(write_register(&mut bench.core, 0xe000_ef00, 4, 1, t), Err(Fault::DataBus(0xe000_ef00)));
    bench.core.scb.ccr |= 2;
    assert_eq!(write_register(&mut bench.core, 0xe000_ef00, 4, 1, t), Ok(PrivateBusWriteEffect::None));
    assert!(bench.core.nvic.is_pending(17));
    assert_eq!(write_register(&mut bench.core, 0xe000_e100, 4, 1, t), Err(Fault::DataBus(0xe000_e100)));
}

#[test]
fn private_bus_needs_privilege() {
    let mut bench = Bench::m3();
    for (unprivileged, as_user) in [(true, false), (false, true)] {
        (bench.core.unprivileged, bench.core.as_user) = (unprivileged, as_user);
        for address in [0xe000_ed00, 0xe000_1004] {
            assert_eq!(read_register(&mut bench.core, address, 4, 0), Err(Fault::DataBus(address)));
        }
        // Tasks without privilege print by the ITM's stimulus ports.
        assert_eq!(read_register(&mut bench.core, 0xe000_0000, 4, 0), Ok(1));
    }
}

#[test]
fn addresses_without_a_register_give_an_error() {
    let mut bench = Bench::m3();
    for address in [0xe000_3000, 0xe000_f000, 0xe004_3000, 0xe00f_e000] {
        assert_eq!(read_register(&mut bench.core, address, 4, 0), Err(Fault::DataBus(address)));
        assert_eq!(write_register(&mut bench.core, address, 4, 0, 0), Err(Fault::DataBus(address)));
    }
}

#[test]
fn trace_registers_store_what_firmware_writes() {
    let mut bench = Bench::m4();
    for address in [0xe000_0e00, 0xe000_0e80, 0xe000_0fb0, 0xe004_0004, 0xe004_00f0, 0xe004_0304, 0xe000_2000] {
        assert_eq!(write_register(&mut bench.core, address, 4, 1, 0), Ok(PrivateBusWriteEffect::None), "{address:#x}");
    }
}

#[test]
fn demcr_enables_trace_and_monitor() {
    let mut bench = Bench::m3();
    bench.write_register(0xe000_edfc, 0x0101_0000);
    assert_eq!(bench.read_register(0xe000_edfc), 0x0101_0000);
    bench.core.nvic.set_priority(12, 0x40);
    bench.write_register(0xe000_edfc, 0x0103_0000);
    assert_eq!(bench.read_register(0xe000_edfc), 0x0103_0000);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(12));
    assert_eq!(bench.read_register(0xe000_edfc), 0x0101_0000);
}

#[test]
fn cycle_counter_counts_only_if_enabled() {
    // TRCENA, CYCCNTENA: counts.
    for (trcena, enable, counts) in [(true, true, true), (false, true, false), (true, false, false)] {
        let mut core = Core::new(Features::CORTEX_M4F);
        write_register(&mut core, 0xe000_edfc, 4, u32::from(trcena) << 24, 1000).expect("DEMCR");
        write_register(&mut core, 0xe000_1000, 4, u32::from(enable), 1000).expect("CTRL");
        write_register(&mut core, 0xe000_1004, 4, 0, 2000).expect("CYCCNT");
        let expected = if counts { 345 } else { 0 };
        assert_eq!(read_register(&mut core, 0xe000_1004, 4, 2345), Ok(expected), "{trcena} {enable}");
    }
}

#[test]
fn cycle_counter_stops_goes_on_and_wraps() {
    let mut core = Core::new(Features::CORTEX_M4F);
    let cyccnt = |core: &mut Core, now| read_register(core, 0xe000_1004, 4, now).expect("CYCCNT");
    write_register(&mut core, 0xe000_edfc, 4, 1 << 24, 0).expect("DEMCR");
    write_register(&mut core, 0xe000_1000, 4, 1, 100).expect("CTRL");
    assert_eq!(cyccnt(&mut core, 150), 50);
    write_register(&mut core, 0xe000_1000, 4, 0, 200).expect("CTRL");
    assert_eq!(cyccnt(&mut core, 900), 100);
    write_register(&mut core, 0xe000_1000, 4, 1, 1000).expect("CTRL");
    assert_eq!(cyccnt(&mut core, 1001), 101);
    write_register(&mut core, 0xe000_1004, 4, u32::MAX, 2000).expect("CYCCNT");
    assert_eq!(cyccnt(&mut core, 2003), 2);
}

#[test]
fn cycle_counter_sleeps_with_the_core_unless_the_part_says_otherwise() {
    for (goes_on, expected) in [(false, 70), (true, 100)] {
        let features = Features { counts_in_sleep: goes_on, ..Features::CORTEX_M4F };
        let mut counter = dwt::Dwt::new(&features);
        counter.set_trace_enable(true, counter.cycle_counter_time_base(0, 0));
        counter.write_register(0, 1, counter.cycle_counter_time_base(0, 0));
        assert_eq!(counter.cycle_counter(counter.cycle_counter_time_base(100, 30)), expected);
    }
}

#[test]
fn m7_locks_its_counter() {
    let mut core = Core::new(Features::CORTEX_M7);
    write_register(&mut core, 0xe000_edfc, 4, 1 << 24, 0).expect("DEMCR");
    write_register(&mut core, 0xe000_1000, 4, 1, 0).expect("CTRL");
    assert_eq!(read_register(&mut core, 0xe000_1004, 4, 50), Ok(0), "locked");
    write_register(&mut core, 0xe000_1fb0, 4, 0xc5ac_ce55, 60).expect("LAR");
    assert_eq!(read_register(&mut core, 0xe000_1fb4, 4, 60), Ok(1));
    write_register(&mut core, 0xe000_1000, 4, 1, 60).expect("CTRL");
    assert_eq!(read_register(&mut core, 0xe000_1004, 4, 100), Ok(40));
    write_register(&mut core, 0xe000_1fb0, 4, 0, 60).expect("LAR");
    write_register(&mut core, 0xe000_1004, 4, 0, 100).expect("CYCCNT");
    assert_eq!(read_register(&mut core, 0xe000_1004, 4, 100), Ok(40), "locked again");
}

#[test]
fn systick_pends_its_exception_and_calls_for_attention() {
    let mut bench = Bench::m3();
    bench.core.limit = u64::MAX;
    bench.write_register(0xe000_e014, 99);
    bench.write_register(0xe000_e018, 0);
    bench.write_register(0xe000_e010, 7);
    assert_eq!(bench.core.limit, 0, "the machine must learn of the new event");
    assert_eq!(bench.core.systick.next_wrap_cycle(), bench.core.t + 100);
    let t = bench.core.t;
    assert_eq!(read_register(&mut bench.core, 0xe000_e018, 4, t + 99), Ok(1));
    super::advance_systick(&mut bench.core, t + 100);
    assert_eq!(bench.settle(), ExceptionStepResult::Entered(SYSTICK));
}

#[test]
fn cache_identification_and_maintenance() {
    let mut bench = Bench::m7();
    assert_eq!(bench.read_register(0xe000_ed80), 0xf00f_e019);
    bench.write_register(0xe000_ed84, 1);
    assert_eq!(bench.read_register(0xe000_ed80), 0xf01f_e009);
    let line = Line { way: 3, set: 127 };
    let table = [
        (0xf50, 0, Operation::InvalidateInstructions),
        (0xf58, 0x40, Operation::InvalidateInstruction(0x40)),
        (0xf5c, 0x60, Operation::InvalidateAddress(0x60)),
        (0xf60, 0xc000_0fe0, Operation::InvalidateLine(line)),
        (0xf64, 0x80, Operation::CleanAddress(0x80)),
        (0xf68, 0x80, Operation::CleanAddress(0x80)),
        (0xf6c, 0xc000_0fe0, Operation::CleanLine(line)),
        (0xf70, 0xa0, Operation::CleanInvalidateAddress(0xa0)),
        (0xf74, 0xc000_0fe0, Operation::CleanInvalidateLine(line)),
        (0xf78, 0, Operation::InvalidatePredictions),
    ];
    for (offset, value, operation) in table {
        let effect = write_register(&mut bench.core, 0xe000_e000 + offset, 4, value, 0);
        assert_eq!(effect, Ok(PrivateBusWriteEffect::Cache(operation)), "{offset:#x}");
    }
    assert_eq!(write_register(&mut bench.core, 0xe000_ed14, 4, 3 << 16, 0), Ok(PrivateBusWriteEffect::CacheControl));
    assert_eq!(bench.read_register(0xe000_ed14), 0x7_0200);
    let mut bench = Bench::m4();
    assert_eq!(write_register(&mut bench.core, 0xe000_ef50, 4, 0, 0), Ok(PrivateBusWriteEffect::None), "no caches");
}

#[test]
fn tcm_registers_contain_the_sizes() {
    for (itcm, dtcm, expected) in [(16, 128, (0x29, 0x41)), (64, 128, (0x39, 0x41)), (0, 0, (0, 0))] {
        let features = Features { itcm_kilobytes: itcm, dtcm_kilobytes: dtcm, ..Features::CORTEX_M7 };
        let mut core = Core::new(features);
        let sizes = (read_register(&mut core, 0xe000_ef90, 4, 0), read_register(&mut core, 0xe000_ef94, 4, 0));
        assert_eq!(sizes, (Ok(expected.0), Ok(expected.1)));
    }
}
