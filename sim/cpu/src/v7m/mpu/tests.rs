//! Regions, permissions, attributes.

use super::super::attributes::{CachePolicy, Kind, MemoryAttributes};
use super::super::core::Request;
use super::super::exception;
use super::super::nvic::exception::{HARD_FAULT, MEM_MANAGE};
use super::super::testing::{Bench, FLASH, RAM, THREAD};
use super::{Access, Fault, allows_unaligned, check_mpu_access_permission, memory_attributes};
use crate::exception_outcome::ExceptionStepResult;

const CTRL: u32 = 0xe000_ed94;
const RNR: u32 = 0xe000_ed98;
const RBAR: u32 = 0xe000_ed9c;
const RASR: u32 = 0xe000_eda0;
const FULL: u32 = 3 << 24;

/// RASR of an enabled region of 2^`log2` bytes with these other bits.
fn rasr(log2: u32, bits: u32) -> u32 {
    bits | (log2 - 1) << 1 | 1
}

fn region(bench: &mut Bench, number: u32, base: u32, rasr: u32) {
    bench.write_register(RBAR, base | 1 << 4 | number);
    bench.write_register(RASR, rasr);
}

#[test]
fn registers() {
    let mut bench = Bench::m4();
    assert_eq!(bench.read_register(0xe000_ed90), 8 << 8);
    bench.write_register(CTRL, u32::MAX);
    assert_eq!(bench.read_register(CTRL), 7);
    bench.write_register(CTRL, 0);
    bench.write_register(RNR, 5);
    bench.write_register(RBAR, 0x2000_0fe0);
    assert_eq!(bench.read_register(RBAR), 0x2000_0fe5, "the region's number, VALID reads as 0");
    bench.write_register(RBAR, 0x2000_1000 | 1 << 4 | 2);
    assert_eq!((bench.read_register(RNR), bench.read_register(RBAR)), (2, 0x2000_1002));
    bench.write_register(RASR, u32::MAX);
    assert_eq!(bench.read_register(RASR), 0x173f_ff3f);
    // The aliases write four regions in one go.
    for alias in 0..4 {
        bench.write_register(RBAR + 8 * alias, (RAM + 0x100 * alias) | 1 << 4 | (4 + alias));
        bench.write_register(RASR + 8 * alias, rasr(8, alias << 24));
    }
    for alias in 0..4 {
        bench.write_register(RNR, 4 + alias);
        let expected = (0x2000_0004 + 0x101 * alias, rasr(8, alias << 24));
        assert_eq!((bench.read_register(RBAR), bench.read_register(RASR)), expected);
    }
}

#[test]
fn core_without_an_mpu_has_no_mpu_registers() {
    let mut bench = Bench::m3();
    bench.write_register(CTRL, 1);
    assert_eq!((bench.read_register(0xe000_ed90), bench.read_register(CTRL)), (0, 0));
    assert_eq!(check_mpu_access_permission(&bench.core, RAM, Access::Write), Ok(()));
}

#[test]
fn access_permissions() {
    // AP: privileged read, write; unprivileged read, write.
    let table = [
        (0, [false, false, false, false]),
        (1, [true, true, false, false]),
        (2, [true, true, true, false]),
        (3, [true, true, true, true]),
        (5, [true, false, false, false]),
        (6, [true, false, true, false]),
        (7, [true, false, true, false]),
    ];
    for (ap, expected) in table {
        for never in [false, true] {
            let mut bench = Bench::m4();
            region(&mut bench, 0, RAM, rasr(12, ap << 24 | u32::from(never) << 28));
            bench.write_register(CTRL, 5);
            for (index, allowed) in expected.into_iter().enumerate() {
                bench.core.unprivileged = index >= 2;
                let access = if index % 2 == 0 { Access::Read } else { Access::Write };
                let result = if allowed { Ok(()) } else { Err(Fault::DataProtection(RAM + 0xffc)) };
                assert_eq!(check_mpu_access_permission(&bench.core, RAM + 0xffc, access), result, "AP {ap} {index}");
                if access == Access::Read {
                    let fetch = if allowed && !never { Ok(()) } else { Err(Fault::FetchProtection) };
                    assert_eq!(
                        check_mpu_access_permission(&bench.core, RAM, Access::Fetch),
                        fetch,
                        "AP {ap} XN {never} {index}"
                    );
                }
            }
        }
    }
}

#[test]
fn background_region_is_for_privileged_code_only() {
    for (ctrl, privileged, user) in [(1, false, false), (5, true, false)] {
        let mut bench = Bench::m4();
        bench.write_register(CTRL, ctrl);
        for (unprivileged, allowed) in [(false, privileged), (true, user)] {
            bench.core.unprivileged = unprivileged;
            for access in [Access::Read, Access::Write, Access::Fetch] {
                assert_eq!(
                    check_mpu_access_permission(&bench.core, RAM, access).is_ok(),
                    allowed,
                    "CTRL {ctrl} {access:?}"
                );
            }
        }
    }
}

#[test]
fn unprivileged_loads_of_privileged_code() {
    let mut bench = Bench::m4();
    region(&mut bench, 0, RAM, rasr(12, 1 << 24));
    bench.write_register(CTRL, 5);
    assert!(check_mpu_access_permission(&bench.core, RAM, Access::Read).is_ok());
    bench.core.as_user = true;
    assert_eq!(check_mpu_access_permission(&bench.core, RAM, Access::Read), Err(Fault::DataProtection(RAM)));
    assert!(check_mpu_access_permission(&bench.core, FLASH, Access::Fetch).is_ok(), "fetches keep their privilege");
}

#[test]
fn borders_sizes_and_the_highest_number_wins() {
    for log2 in [5, 8, 12, 15] {
        let mut bench = Bench::m4();
        let bytes = 1 << log2;
        region(&mut bench, 0, 0, rasr(32, FULL));
        region(&mut bench, 3, RAM + bytes, rasr(log2, 0));
        bench.write_register(CTRL, 1);
        let allowed = [RAM + bytes - 4, RAM + bytes, RAM + 2 * bytes - 4, RAM + 2 * bytes]
            .map(|address| check_mpu_access_permission(&bench.core, address, Access::Read).is_ok());
        assert_eq!(allowed, [true, false, false, true], "2^{log2} bytes");
        region(&mut bench, 7, RAM, rasr(20, FULL));
        assert!(check_mpu_access_permission(&bench.core, RAM + bytes, Access::Read).is_ok(), "region 7 over region 3");
    }
}

#[test]
fn subregions_fall_through_to_what_is_below() {
    let mut bench = Bench::m4();
    region(&mut bench, 0, RAM, rasr(12, 6 << 24));
    region(&mut bench, 1, RAM, rasr(11, FULL | 0b1000_0001 << 8));
    bench.write_register(CTRL, 1);
    for eighth in 0..8 {
        let write = check_mpu_access_permission(&bench.core, RAM + 0x100 * eighth, Access::Write).is_ok();
        assert_eq!(write, eighth != 0 && eighth != 7, "eighth {eighth}");
    }
}

#[test]
fn negative_priority_bypasses_the_mpu_unless_hfnmiena() {
    for (ctrl, allowed) in [(1, true), (3, false)] {
        let mut bench = Bench::m4();
        bench.write_register(CTRL, ctrl);
        assert!(check_mpu_access_permission(&bench.core, RAM, Access::Read).is_err());
        bench.core.faultmask = true;
        assert_eq!(
            check_mpu_access_permission(&bench.core, RAM, Access::Read).is_ok(),
            allowed,
            "FAULTMASK, CTRL {ctrl}"
        );
        bench.core.faultmask = false;
        bench.core.nvic.set_exception_active(HARD_FAULT, true);
        assert_eq!(
            check_mpu_access_permission(&bench.core, RAM, Access::Read).is_ok(),
            allowed,
            "HardFault, CTRL {ctrl}"
        );
    }
}

#[test]
fn mpu_ignores_the_private_peripheral_bus() {
    let mut bench = Bench::m4();
    region(&mut bench, 0, 0, rasr(32, 0));
    bench.write_register(CTRL, 1);
    assert!(check_mpu_access_permission(&bench.core, 0xe000_ed94, Access::Write).is_ok());
    assert_eq!(check_mpu_access_permission(&bench.core, 0xe000_0000, Access::Fetch), Err(Fault::FetchProtection));
    assert!(check_mpu_access_permission(&bench.core, 0xe010_0000, Access::Write).is_err());
}

#[test]
fn default_map_is_executable_as_in_the_manual() {
    let bench = Bench::m4();
    for (address, allowed) in [
        (0x0000_0000, true),
        (0x2000_0000, true),
        (0x4000_0000, false),
        (0x6000_0000, true),
        (0x9fff_fffe, true),
        (0xa000_0000, false),
        (0xc000_0000, false),
        (0xe000_0000, false),
        (0xffff_fffe, false),
    ] {
        assert_eq!(check_mpu_access_permission(&bench.core, address, Access::Fetch).is_ok(), allowed, "{address:#x}");
        assert!(check_mpu_access_permission(&bench.core, address, Access::Read).is_ok());
    }
}

#[test]
fn attributes_of_regions() {
    let normal = |policy| (Kind::Normal, policy);
    use CachePolicy::{NonCacheable, WriteBack, WriteBackWriteAllocate, WriteThrough};
    use Kind::{Device, StronglyOrdered};
    let table = [
        (0b000, 0b00, (StronglyOrdered, NonCacheable)),
        (0b000, 0b01, (Device, NonCacheable)),
        (0b000, 0b10, normal(WriteThrough)),
        (0b000, 0b11, normal(WriteBack)),
        (0b001, 0b00, normal(NonCacheable)),
        (0b001, 0b11, normal(WriteBackWriteAllocate)),
        (0b010, 0b00, (Device, NonCacheable)),
        (0b100, 0b00, normal(NonCacheable)),
        (0b101, 0b01, normal(WriteBackWriteAllocate)),
        (0b110, 0b10, normal(WriteThrough)),
        (0b111, 0b11, normal(WriteBack)),
    ];
    for (tex, cb, (kind, policy)) in table {
        for shareable in [false, true] {
            let bits = tex << 19 | u32::from(shareable) << 18 | cb << 16;
            let shared = match (tex, kind) {
                (2, _) => false,
                (_, Kind::Normal) => shareable,
                _ => true,
            };
            let expected = MemoryAttributes { kind, policy, shareable: shared };
            let mut bench = Bench::m7();
            region(&mut bench, 0, 0x2402_0000, rasr(17, FULL | bits));
            assert_eq!(memory_attributes(&bench.core, 0x2402_0000).policy, WriteBackWriteAllocate, "not yet on");
            bench.write_register(CTRL, 5);
            assert_eq!(memory_attributes(&bench.core, 0x2402_0000), expected, "TEX {tex} CB {cb}");
        }
    }
}

#[test]
fn unaligned_accesses() {
    let table =
        [(RAM + 1, true, true), (0x4000_0001, true, false), (0xe000_ed01, false, false), (FLASH + 2, true, true)];
    for (address, m4, m7) in table {
        for (mut bench, allowed) in [(Bench::m4(), m4), (Bench::m7(), m7)] {
            assert_eq!(allows_unaligned(&bench.core, address), allowed, "{address:#x}");
            bench.write_register(0xe000_ed14, 1 << 3);
            assert!(!allows_unaligned(&bench.core, address));
        }
    }
}

#[test]
fn branch_into_forbidden_memory_faults_there() {
    let mut bench = Bench::m4();
    bench.write_register(0xe000_ed24, 1 << 16);
    region(&mut bench, 0, FLASH, rasr(16, 6 << 24));
    region(&mut bench, 1, FLASH + 0xa000, rasr(12, 6 << 24 | 1 << 28));
    bench.write_register(CTRL, 5);
    exception::look_up_code_region(&mut bench.core, &mut bench.bus);
    assert_eq!((bench.core.next_instruction_address(), bench.core.request), (THREAD, Request::None));
    let part = bench.core.region;
    assert!(part.base <= THREAD && part.base + part.bytes <= FLASH + 0xa000, "{part:?}");
    exception::jump_to_interworking_address(&mut bench.core, &mut bench.bus, FLASH + 0xa101);
    assert_eq!(bench.core.request, Request::Fault(Fault::FetchProtection));
    assert_eq!(bench.core.next_instruction_address(), FLASH + 0xa100);
    bench.core.request = Request::None;
    assert_eq!(bench.fault(Fault::FetchProtection), ExceptionStepResult::Entered(MEM_MANAGE));
    assert_eq!(
        (bench.core.next_instruction_address(), bench.core.request),
        (FLASH + 0x1000 + 0x40 * MEM_MANAGE, Request::None)
    );
}

#[test]
fn losing_privilege_is_noticed() {
    let mut bench = Bench::m4();
    region(&mut bench, 0, FLASH, rasr(16, 5 << 24));
    bench.write_register(CTRL, 5);
    assert!(bench.core.refetch);
    assert_eq!(bench.settle(), ExceptionStepResult::None);
    assert!(!bench.core.refetch);
    bench.core.limit = u64::MAX;
    bench.core.write_special_register(20, 3, 1);
    assert_eq!((bench.core.refetch, bench.core.limit), (true, 0));
    bench.settle();
    assert_eq!(bench.core.request, Request::Fault(Fault::FetchProtection));
}

#[test]
fn stacking_obeys_the_privilege_of_the_interrupted_code() {
    for (unprivileged, entered) in [(false, 16), (true, MEM_MANAGE)] {
        let mut bench = Bench::m4();
        bench.write_register(0xe000_ed24, 1 << 16);
        bench.enable(0, 0x40);
        region(&mut bench, 0, 0, rasr(32, 1 << 24));
        bench.write_register(CTRL, 1);
        bench.core.unprivileged = unprivileged;
        bench.interrupt_level(0);
        assert_eq!(bench.core.ipsr, entered, "unprivileged {unprivileged}");
        assert_eq!(bench.read_register(0xe000_ed28), if unprivileged { 1 << 4 } else { 0 });
    }
}

#[test]
fn unstacking_obeys_the_privilege_of_the_code_returned_to() {
    let mut bench = Bench::m4();
    bench.write_register(0xe000_ed24, 1 << 16);
    bench.enable(0, 0x40);
    bench.interrupt_level(0);
    region(&mut bench, 0, 0, rasr(32, 1 << 24));
    bench.write_register(CTRL, 1);
    bench.core.unprivileged = true;
    assert_eq!(bench.ret(0xffff_fff9), ExceptionStepResult::Chained(16, MEM_MANAGE));
    assert_eq!(bench.read_register(0xe000_ed28), 1 << 3, "MUNSTKERR");
}

#[test]
fn lazy_preservation_obeys_the_privilege_of_the_state() {
    for (unprivileged, result) in [(false, Ok(())), (true, Err(Fault::LazyProtection))] {
        let mut bench = Bench::m4();
        bench.write_register(0xe000_ed88, 0xf << 20);
        bench.core.fpca = true;
        bench.enable(0, 0x40);
        bench.core.unprivileged = unprivileged;
        bench.interrupt_level(0);
        region(&mut bench, 0, 0, rasr(32, 1 << 24));
        bench.write_register(CTRL, 1);
        let done = super::super::float_context::prepare_fpu_for_instruction(&mut bench.core, &mut bench.bus);
        assert_eq!(done, result, "unprivileged {unprivileged}");
    }
}
