use super::*;
use crate::stm32::testing::Bench;

/// One RTC clock period at 32 768 Hz is 1000 core cycles here.
const CORE_HZ: u64 = 32_768_000;

fn started() -> (Bench, Rtc) {
    let mut bench = Bench::new();
    (bench.core_hz, bench.clock_hz) = (CORE_HZ, 32_768);
    let mut rtc = Rtc::new();
    rtc.clocks_changed(&mut bench.access());
    (bench, rtc)
}

fn unlock(rtc: &mut Rtc, bench: &mut Bench) {
    for key in KEYS {
        rtc.write_register(0x24, key, &mut bench.access());
    }
}

/// Sets date and time through the initialisation mode.
fn set(rtc: &mut Rtc, bench: &mut Bench, dr: u32, tr: u32) {
    unlock(rtc, bench);
    rtc.write_register(0x0c, INIT, &mut bench.access());
    let due = rtc.next_event_cycle();
    assert_eq!(rtc.read_register(0x0c, &mut bench.access_at(due)) & INITF, INITF);
    rtc.write_register(0x04, dr, &mut bench.access());
    rtc.write_register(0x00, tr, &mut bench.access());
    rtc.write_register(0x0c, !INIT, &mut bench.access());
    rtc.write_register(0x24, 0xff, &mut bench.access());
}

#[test]
fn initialisation_takes_two_periods_and_stops_the_calendar() {
    let (mut bench, mut rtc) = started();
    rtc.write_register(0x0c, INIT, &mut bench.access());
    assert_eq!(rtc.read_register(0x0c, &mut bench.access()) & INIT, 0, "locked");
    unlock(&mut rtc, &mut bench);
    rtc.write_register(0x0c, INIT, &mut bench.access_at(10_000));
    assert_eq!(rtc.read_register(0x0c, &mut bench.access_at(11_999)) & INITF, 0);
    assert_eq!(rtc.read_register(0x0c, &mut bench.access_at(12_000)) & INITF, INITF);
    assert_eq!(rtc.read_register(0x00, &mut bench.access_at(CORE_HZ * 100)), 0);
    rtc.write_register(0x0c, 0, &mut bench.access());
    assert_eq!(rtc.read_register(0x0c, &mut bench.access()) & (INITF | INIT), 0);
    assert_eq!(rtc.read_register(0x00, &mut bench.access_at(CORE_HZ * 103)), 3);
}

#[test]
fn calendar_after_a_time() {
    // Date and time set, seconds later, date and time then. Saturday is 6.
    for (dr, tr, seconds, want_dr, want_tr) in [
        (0x00_c101, 0x00_00_00, 59, 0x00_c101, 0x00_00_59),
        (0x00_c101, 0x12_59_59, 1, 0x00_c101, 0x13_00_00),
        (0x99_9231, 0x23_59_58, 3, 0x00_a101, 0x00_00_01),
        (0x24_8228, 0x23_59_59, 1, 0x24_a229, 0x00_00_00),
        (0x23_4228, 0x23_59_59, 1, 0x23_6301, 0x00_00_00),
        (0x26_f130, 0x00_00_00, 86_400 * 2, 0x26_5202, 0x00_00_00),
    ] {
        let (mut bench, mut rtc) = started();
        set(&mut rtc, &mut bench, dr, tr);
        let later = bench.now + seconds * CORE_HZ + 10;
        assert_eq!(rtc.read_register(0x00, &mut bench.access_at(later)), want_tr, "{dr:x} {tr:x}");
        assert_eq!(rtc.read_register(0x04, &mut bench.access()), want_dr, "{dr:x} {tr:x}");
    }
}

#[test]
fn twelve_hour_format() {
    for (hour, want) in [(0x00, 0x12), (0x11, 0x11), (0x12, 0x52), (0x23, 0x51)] {
        let (mut bench, mut rtc) = started();
        set(&mut rtc, &mut bench, 0x2101, hour << 16);
        unlock(&mut rtc, &mut bench);
        rtc.write_register(0x08, FMT, &mut bench.access());
        assert_eq!(rtc.read_register(0x00, &mut bench.access()) >> 16, want);
    }
}

#[test]
fn shadow_registers_follow_two_periods_after_rsf_is_cleared() {
    let (mut bench, mut rtc) = started();
    assert_eq!(rtc.read_register(0x0c, &mut bench.access_at(2_000)) & RSF, RSF);
    unlock(&mut rtc, &mut bench);
    rtc.write_register(0x0c, !(RSF | INIT), &mut bench.access());
    assert_eq!(rtc.read_register(0x0c, &mut bench.access_at(3_999)) & RSF, 0);
    assert_eq!(rtc.read_register(0x0c, &mut bench.access_at(4_000)) & RSF, RSF);
}

#[test]
fn without_a_clock_nothing_becomes_ready() {
    let mut bench = Bench::new();
    bench.clock_hz = 0;
    let mut rtc = Rtc::new();
    rtc.clocks_changed(&mut bench.access());
    unlock(&mut rtc, &mut bench);
    rtc.write_register(0x0c, INIT, &mut bench.access());
    assert_eq!((rtc.next_event_cycle(), rtc.read_register(0x0c, &mut bench.access_at(1 << 40)) & INITF), (NEVER, 0));
}

#[test]
fn prescalers_and_sub_seconds() {
    let (mut bench, mut rtc) = started();
    unlock(&mut rtc, &mut bench);
    rtc.write_register(0x0c, INIT, &mut bench.access());
    rtc.advance_to_now(&mut bench.access_at(2_000));
    // A period of 1/32 s, 32 to a second.
    rtc.write_register(0x10, 31, &mut bench.access());
    rtc.write_register(0x10, 31 | 127 << 16, &mut bench.access());
    assert_eq!(rtc.read_register(0x10, &mut bench.access()), 31 | 127 << 16);
    rtc.write_register(0x0c, 0, &mut bench.access());
    // 128 clock periods of 1000 cycles make one step of SSR.
    assert_eq!(rtc.read_register(0x28, &mut bench.access_at(2_000 + 128_000)), 30);
    assert_eq!(rtc.read_register(0x00, &mut bench.access_at(2_000 + 32 * 128_000)), 1);
}

#[test]
fn keys_guard_all_but_the_backup_registers() {
    let (mut bench, mut rtc) = started();
    for (offset, open) in [(0x08, 0x40), (0x14, 0x1234), (0x1c, 7)] {
        let before = rtc.read_register(offset, &mut bench.access());
        rtc.write_register(offset, open, &mut bench.access());
        assert_eq!(rtc.read_register(offset, &mut bench.access()), before, "{offset:#x}");
        unlock(&mut rtc, &mut bench);
        rtc.write_register(offset, open, &mut bench.access());
        assert_eq!(rtc.read_register(offset, &mut bench.access()), open, "{offset:#x}");
        rtc.write_register(0x24, 0, &mut bench.access());
    }
    rtc.write_register(0x50, 0x5555, &mut bench.access());
    assert_eq!(rtc.read_register(0x50, &mut bench.access()), 0x5555);
    assert_eq!(bench.effects.unmodelled, None);
    unlock(&mut rtc, &mut bench);
    rtc.write_register(0x08, 1 << 10, &mut bench.access());
    assert_eq!(bench.effects.unmodelled, Some((8, true)));
}

#[test]
fn day_numbers_and_dates_are_inverse() {
    for days in 0..36_525 {
        let (year, month, day) = date_from_days(days);
        assert_eq!(days_from_date(year, month, day), days);
    }
    assert_eq!((date_from_days(0), date_from_days(59), date_from_days(366)), ((0, 1, 1), (0, 2, 29), (1, 1, 1)));
}
