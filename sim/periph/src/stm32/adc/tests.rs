//! Conversions in their time, sequences, and what each family does differently.

use super::*;
use crate::stm32::testing::Bench;

const SR: u32 = 0x00;
const CR1: u32 = 0x04;
const CR2: u32 = 0x08;
const SMPR2: u32 = 0x10;
const SQR1: u32 = 0x2c;
const SQR3: u32 = 0x34;
const DR: u32 = 0x4c;
/// F1: calibration and its reset.
const CR2_CALIBRATION: u32 = 3 << 2;
const F1_START: u32 = 1 << 22;
const F4_START: u32 = 1 << 30;

fn adc(bench: &mut Bench, layout: AdcLayout) -> Adc {
    let mut adc = Adc::new(layout);
    adc.set_channel_voltage(3, 1650);
    adc.set_channel_voltage(4, 3300);
    adc.write_register(SQR3, 4 << 5 | 3, &mut bench.access());
    adc.write_register(CR2, CR2_ADON, &mut bench.access());
    adc
}

#[test]
fn a_conversion_takes_sampling_and_its_bits() {
    // Layout, start, sampling code of channel 3, cycles at a core clock of twice the ADC's bus.
    for (layout, start, code, cycles) in [
        (AdcLayout::F1, F1_START, 0, 28),
        (AdcLayout::F1, F1_START, 7, 504),
        (AdcLayout::F4, F4_START, 0, 60),
        (AdcLayout::F4, F4_START, 7, 4 * 492),
    ] {
        let mut bench = Bench::new();
        bench.core_hz *= 2;
        let mut adc = adc(&mut bench, layout);
        adc.write_register(SMPR2, code << 9, &mut bench.access());
        adc.write_register(CR2, CR2_ADON | start, &mut bench.access());
        assert_eq!(
            (adc.next_event_cycle(), adc.read_register(SR, &mut bench.access())),
            (cycles, SR_STRT),
            "{layout:?} {code}"
        );
        assert_eq!(adc.read_register(CR2, &mut bench.access()), CR2_ADON);
        adc.advance_to_now(&mut bench.access_at(cycles));
        assert_eq!(adc.read_register(SR, &mut bench.access()), SR_STRT | SR_EOC);
        assert_eq!(
            (adc.read_register(DR, &mut bench.access()), adc.read_register(SR, &mut bench.access())),
            (2048, SR_STRT)
        );
        adc.write_register(SR, !SR_STRT, &mut bench.access());
        assert_eq!((adc.read_register(SR, &mut bench.access()), adc.next_event_cycle()), (0, NEVER));
    }
}

#[test]
fn adon_again_starts_on_the_f1_and_calibration_takes_no_time() {
    let mut bench = Bench::new();
    let mut adc = adc(&mut bench, AdcLayout::F1);
    adc.write_register(CR2, CR2_ADON | CR2_CALIBRATION, &mut bench.access());
    assert_eq!(adc.read_register(CR2, &mut bench.access()), CR2_ADON);
    let started = adc.next_event_cycle() != NEVER;
    adc.write_register(CR2, 0, &mut bench.access());
    adc.write_register(CR2, CR2_ADON, &mut bench.access());
    assert_eq!((started, adc.next_event_cycle()), (false, NEVER));
    adc.write_register(CR2, CR2_ADON, &mut bench.access());
    assert_eq!(adc.next_event_cycle(), 14);
}

#[test]
fn fewer_bits_take_less_time() {
    for (resolution, cycles, level) in [(0, 30, 4095), (1, 26, 1023), (2, 22, 255), (3, 18, 63)] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, AdcLayout::F4);
        adc.write_register(SQR3, 4, &mut bench.access());
        adc.write_register(CR1, resolution << 24, &mut bench.access());
        adc.write_register(CR2, CR2_ADON | F4_START, &mut bench.access());
        assert_eq!(adc.next_event_cycle(), cycles);
        adc.advance_to_now(&mut bench.access_at(cycles));
        assert_eq!(adc.read_register(DR, &mut bench.access()), level);
    }
}

#[test]
fn a_sequence_ends_once_or_flags_each_conversion() {
    for (eocs, flagged) in [(0, [false, true]), (CR2_EOCS, [true, true])] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, AdcLayout::F4);
        adc.write_register(CR1, CR1_SCAN, &mut bench.access());
        adc.write_register(SQR1, 1 << 20, &mut bench.access());
        adc.write_register(CR2, CR2_ADON | F4_START | eocs, &mut bench.access());
        for (flag, level) in flagged.into_iter().zip([2048, 4095]) {
            let due = adc.next_event_cycle();
            adc.advance_to_now(&mut bench.access_at(due));
            assert_eq!(adc.read_register(SR, &mut bench.access()) & SR_EOC != 0, flag);
            assert_eq!(adc.read_register(DR, &mut bench.access()), level);
        }
        assert_eq!(adc.next_event_cycle(), NEVER);
    }
}

#[test]
fn continuous_conversions_go_on_and_overrun_where_each_is_flagged() {
    let mut bench = Bench::new();
    let mut adc = adc(&mut bench, AdcLayout::F4);
    adc.write_register(CR1, CR1_OVRIE, &mut bench.access());
    adc.write_register(CR2, CR2_ADON | CR2_CONT | CR2_EOCS | F4_START, &mut bench.access());
    adc.advance_to_now(&mut bench.access_at(30));
    assert_eq!((adc.next_event_cycle(), adc.interrupt_outputs()), (60, 0));
    adc.advance_to_now(&mut bench.access_at(60));
    assert_eq!((adc.next_event_cycle(), adc.interrupt_outputs()), (NEVER, 1));
    assert_eq!(adc.read_register(SR, &mut bench.access()) & SR_OVR, SR_OVR);
    adc.write_register(SR, !SR_OVR, &mut bench.access());
    assert_eq!(adc.interrupt_outputs(), 0);
}

#[test]
fn the_end_interrupts_until_the_data_is_read() {
    let mut bench = Bench::new();
    let mut adc = adc(&mut bench, AdcLayout::F1);
    adc.write_register(CR1, CR1_EOCIE, &mut bench.access());
    adc.write_register(CR2, CR2_ADON | CR2_ALIGN, &mut bench.access());
    adc.write_register(CR2, CR2_ADON | CR2_ALIGN | F1_START, &mut bench.access());
    assert_eq!(adc.interrupt_outputs(), 0);
    adc.advance_to_now(&mut bench.access_at(14));
    assert_eq!(adc.interrupt_outputs(), 1);
    assert_eq!((adc.read_register(DR, &mut bench.access()), adc.interrupt_outputs()), (2048 << 4, 0));
}

#[test]
fn three_converters_share_a_divider_and_a_status() {
    let mut bench = Bench::new();
    let mut adc = adc(&mut bench, AdcLayout::F4);
    adc.write_register(COMMON + 4, 3 << 16, &mut bench.access());
    adc.write_register(0x200 + SQR3, 4, &mut bench.access());
    adc.write_register(0x200 + CR2, CR2_ADON | F4_START, &mut bench.access());
    assert_eq!(adc.next_event_cycle(), 4 * 30);
    adc.advance_to_now(&mut bench.access_at(120));
    assert_eq!(adc.read_register(COMMON, &mut bench.access()), (SR_STRT | SR_EOC) << 16);
    assert_eq!(adc.read_register(0x200 + DR, &mut bench.access()), 4095);
}

#[test]
fn resets() {
    let mut bench = Bench::new();
    let mut adc = adc(&mut bench, AdcLayout::F4);
    adc.reset_registers();
    let values =
        [SR, CR1, CR2, 0x24, 0x28, SQR3, DR, 0x124].map(|offset| adc.read_register(offset, &mut bench.access()));
    assert_eq!(values, [0, 0, 0, 0xfff, 0, 0, 0, 0xfff]);
    adc.write_register(0x50, 0, &mut bench.access());
    assert_eq!(bench.effects.unmodelled, Some((0x50, true)));
}
