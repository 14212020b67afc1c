use super::*;
use crate::stm32::testing::Bench;

/// Cycles of [`SETTLE_NS`] at 16 MHz.
const SETTLE: u64 = 320;

#[test]
fn voltage_ready_needs_the_pll_and_time() {
    for kind in [PwrKind::F4(0x4000), PwrKind::OverDrive] {
        let mut bench = Bench::new();
        let mut pwr = Pwr::new(kind);
        assert_eq!(pwr.read_register(4, &mut bench.access()) >> 14 & 1, 0, "{kind:?}");
        pwr.set_pll_ready(true);
        assert_eq!(pwr.read_register(4, &mut bench.access()) >> 14 & 1, 1);
        let cr = pwr.read_register(0, &mut bench.access());
        pwr.write_register(0, cr ^ 1 << 14, &mut bench.access());
        assert_eq!(
            (pwr.read_register(4, &mut bench.access_at(SETTLE - 1)) >> 14 & 1, pwr.next_event_cycle()),
            (0, SETTLE)
        );
        assert_eq!(pwr.read_register(4, &mut bench.access_at(SETTLE)) >> 14 & 1, 1);
    }
}

#[test]
fn over_drive_in_two_steps() {
    let mut bench = Bench::new();
    let mut pwr = Pwr::new(PwrKind::OverDrive);
    for (bit, want_before) in [(16, 0), (17, 1)] {
        let cr = pwr.read_register(0, &mut bench.access());
        pwr.write_register(0, cr | 1 << bit, &mut bench.access());
        let start = bench.now;
        assert_eq!(pwr.read_register(4, &mut bench.access()) >> bit & 1, 0);
        assert_eq!(pwr.read_register(4, &mut bench.access_at(start + SETTLE)) >> 16 & 3, want_before << 1 | 1);
    }
    // F407 and F411 have none.
    let mut pwr = Pwr::new(PwrKind::F4(0x4000));
    pwr.write_register(0, 3 << 16, &mut bench.access());
    assert_eq!(pwr.read_register(4, &mut bench.access_at(1_000_000)) >> 16 & 3, 0);
}

#[test]
fn l0_shows_vosf_while_the_voltage_moves() {
    let mut bench = Bench::new();
    let mut pwr = Pwr::new(PwrKind::L0);
    assert_eq!((pwr.read_register(0, &mut bench.access()), pwr.read_register(4, &mut bench.access())), (0x1000, 8));
    assert_eq!(pwr.voltage_scale(), 2);
    pwr.write_register(0, 0x0800, &mut bench.access());
    assert_eq!(pwr.read_register(4, &mut bench.access_at(SETTLE - 1)), 8 | 1 << 4);
    assert_eq!(pwr.read_register(4, &mut bench.access_at(SETTLE)), 8);
    pwr.write_register(0, 0x0800 | 1 << 14, &mut bench.access());
    assert_eq!(pwr.read_register(4, &mut bench.access()), 8 | 1 << 5);
}

#[test]
fn h7_takes_its_supply_once_and_scales_only_then() {
    let mut bench = Bench::new();
    let mut pwr = Pwr::new(PwrKind::H7);
    assert_eq!((pwr.read_register(0x0c, &mut bench.access()), pwr.read_register(4, &mut bench.access())), (6, 0x4000));
    pwr.write_register(0x18, 3 << 14, &mut bench.access());
    assert_eq!(pwr.read_register(0x18, &mut bench.access()), 1 << 14, "no scaling before the supply is set");
    pwr.write_register(0x0c, 2, &mut bench.access());
    assert_eq!(pwr.read_register(4, &mut bench.access_at(SETTLE - 1)) >> 13 & 1, 0);
    assert_eq!(pwr.read_register(4, &mut bench.access_at(SETTLE)) >> 13 & 1, 1);
    pwr.write_register(0x0c, 5, &mut bench.access());
    assert_eq!(pwr.read_register(0x0c, &mut bench.access()), 2, "only the first write counts");
    pwr.write_register(0x18, 3 << 14, &mut bench.access());
    assert_eq!(pwr.read_register(0x18, &mut bench.access()), 3 << 14);
    assert_eq!(pwr.read_register(0x18, &mut bench.access_at(SETTLE * 2)), 3 << 14 | 1 << 13);
    assert_eq!((pwr.read_register(4, &mut bench.access()), pwr.voltage_scale()), (3 << 14 | 1 << 13, 3));
    // The supply survives a system reset, the scale does not.
    pwr.reset_registers();
    assert_eq!(
        (pwr.read_register(0x0c, &mut bench.access()), pwr.read_register(0x18, &mut bench.access())),
        (2, 1 << 14 | 1 << 13)
    );
}

#[test]
fn dbp_opens_the_backup_domain() {
    for kind in [PwrKind::F1, PwrKind::F4(0x8000), PwrKind::OverDrive, PwrKind::L0, PwrKind::H7] {
        let mut bench = Bench::new();
        let mut pwr = Pwr::new(kind);
        assert!(!pwr.is_backup_domain_writable());
        pwr.write_register(0, DBP | 0xc, &mut bench.access());
        assert!(pwr.is_backup_domain_writable(), "{kind:?}");
        // CWUF and CSBF read 0. The H7 has no such bits there.
        let strobes = if kind == PwrKind::H7 { 0xc } else { 0 };
        assert_eq!(pwr.read_register(0, &mut bench.access()) & 0xc, strobes, "{kind:?}");
        pwr.reset_registers();
        assert!(!pwr.is_backup_domain_writable());
    }
}
