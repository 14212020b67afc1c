//! Conversions in their time, sequences, flags, and what each family does differently.

use super::at::{CFGR, CFGR2, CHSELR, CR, DR, IER, ISR, PCSEL, SMPR, SQR1};
use super::*;
use crate::stm32::testing::Bench;

const START: u32 = CR_ADEN | CR_ADSTART;
const H7_ON: u32 = CR_ADVREGEN | CR_ADEN;
/// The L0 on PCLK without a divider, which is the core's clock in these tests.
const L0_PCLK: u32 = 3 << 30;
/// The H7 on HCLK without a divider: two core cycles a period.
const H7_HCLK: u32 = 1 << 16;

/// An enabled ADC with 1.65 V at channel 3 and 3.3 V at channel 4.
fn adc(bench: &mut Bench, layout: AdcV4Layout, writes: &[(u32, u32)]) -> AdcV4 {
    let mut adc = AdcV4::new(layout);
    for (channel, millivolts) in [(3, 1650), (4, 3300)] {
        let pin = adc.converters[0].pins[channel];
        assert!(adc.set_pin_voltage(u16::from(pin), millivolts));
    }
    let on: &[(u32, u32)] = match layout {
        L0 => &[(CFGR2, L0_PCLK), (CHSELR, 0x18), (CR, CR_ADEN)],
        // Two conversions: channels 3 and 4.
        _ => &[(CCR, H7_HCLK), (PCSEL, 0x18), (SQR1, 4 << 12 | 3 << 6 | 1), (CR, CR_ADVREGEN), (CR, H7_ON)],
    };
    for &(offset, value) in on.iter().chain(writes) {
        adc.write_register(offset, value, &mut bench.access());
    }
    adc
}

fn start(adc: &mut AdcV4, bench: &mut Bench) {
    let on = if adc.layout == L0 { START } else { H7_ON | CR_ADSTART };
    adc.write_register(CR, on, &mut bench.access());
}

fn read_register(adc: &mut AdcV4, bench: &mut Bench, offset: u32) -> u32 {
    adc.read_register(offset, &mut bench.access())
}

/// The next result, at the cycle at which it is due.
fn next(adc: &mut AdcV4, bench: &mut Bench) -> (u64, u32) {
    let due = adc.next_event_cycle();
    adc.advance_to_now(&mut bench.access_at(due));
    (due, read_register(adc, bench, DR))
}

#[test]
fn conversion_takes_sampling_and_its_bits() {
    // Layout, CFGR, SMPR, cycles of a conversion, results of half and of all the supply.
    for (layout, cfgr, smpr, cycles, results) in [
        (L0, 0, 0, 14, [2048, 4095]),
        (L0, 1 << 3, 0, 13, [512, 1023]),
        (L0, 2 << 3, 0, 11, [128, 255]),
        (L0, 3 << 3, 0, 9, [32, 63]),
        (L0, 0, 7, 173, [2048, 4095]),
        (L0, L0_ALIGN, 0, 14, [2048 << 4, 4095 << 4]),
        (L0, L0_ALIGN | 3 << 3, 0, 9, [32 << 2, 63 << 2]),
        (H7First, 0, 0, 20, [32768, 65535]),
        (H7Third, 5 << 2, 0, 18, [8192, 16383]),
        (H7First, 1 << 2, 0, 18, [8192, 16383]),
        (H7First, 6 << 2, 0, 16, [2048, 4095]),
        (H7First, 3 << 2, 0, 14, [512, 1023]),
        (H7First, 7 << 2, 0, 12, [128, 255]),
        // 810.5 and 8.5 periods of channel 3, 16.5 and 8.5 of channel 4.
        (H7First, 0, 7 << 9 | 3 << 12, 1638, [32768, 65535]),
    ] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, layout, &[(CFGR, cfgr), (SMPR, smpr)]);
        assert_eq!(read_register(&mut adc, &mut bench, ISR) & 0xfff, ISR_ADRDY);
        start(&mut adc, &mut bench);
        let second = if smpr >> 12 != 0 { cycles + 50 } else { 2 * cycles };
        assert_eq!(next(&mut adc, &mut bench), (cycles, results[0]), "{layout:?} {cfgr:#x} {smpr}");
        assert_eq!(next(&mut adc, &mut bench), (second, results[1]), "{layout:?} {cfgr:#x} {smpr}");
        assert_eq!(
            (adc.next_event_cycle(), read_register(&mut adc, &mut bench, CR) & CR_ADSTART),
            (NEVER, 0),
            "it ends with the sequence"
        );
    }
}

#[test]
fn clocks_of_the_l0_and_the_h7() {
    // Layout, register, value, asynchronous clock in Hz, cycles of a conversion at 16 MHz.
    for (layout, register, value, asynchronous, cycles) in [
        (L0, CFGR2, 1 << 30, 0, 28),
        (L0, CFGR2, 2 << 30, 0, 56),
        (L0, CFGR2, 0, 16_000_000, 14),
        (L0, CFGR2, 0, 4_000_000, 56),
        (L0, CFGR2, 0, 0, NEVER),
        (H7First, CCR, 2 << 16, 0, 40),
        (H7First, CCR, 3 << 16, 0, 80),
        (H7First, CCR, 0, 16_000_000, 20),
        (H7First, CCR, 4 << 18, 16_000_000, 160),
        (H7First, CCR, 0, 0, NEVER),
    ] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, layout, &[(register, value)]);
        adc.set_asynchronous_clock_hz(asynchronous);
        start(&mut adc, &mut bench);
        assert_eq!(adc.next_event_cycle(), cycles, "{layout:?} {value:#x} {asynchronous}");
        adc.set_asynchronous_clock_hz(16_000_000);
        adc.clocks_changed(&mut bench.access_at(5));
        assert_ne!(adc.next_event_cycle(), NEVER, "it goes on as the clock comes");
    }
}

#[test]
fn sequences_of_channels() {
    let mut bench = Bench::new();
    let mut backward = adc(&mut bench, L0, &[(CFGR, L0_SCANDIR)]);
    start(&mut backward, &mut bench);
    assert_eq!([next(&mut backward, &mut bench).1, next(&mut backward, &mut bench).1], [4095, 2048]);
    let mut nothing = adc(&mut bench, L0, &[(CHSELR, 0)]);
    start(&mut nothing, &mut bench);
    assert_eq!((nothing.next_event_cycle(), read_register(&mut nothing, &mut bench, CR)), (NEVER, CR_ADEN));
    // All sixteen places of the H7: channel 4 at places 1, 5, 10, 15 and 16, channel 3 elsewhere.
    let three = |first: u32| (first..5).fold(0, |word, place| word | 3 << (6 * place));
    let places = [three(1) ^ 7 << 6 | 15, three(0) ^ 7, three(0) ^ 7, 4 | 4 << 6];
    let writes: Vec<(u32, u32)> = (0..4).map(|n| (SQR1 + 4 * n, places[n as usize])).collect();
    let mut long = adc(&mut bench, H7First, &writes);
    start(&mut long, &mut bench);
    let results: Vec<bool> = (0..16).map(|_| next(&mut long, &mut bench).1 == 65535).collect();
    let high: Vec<usize> = (0..16).filter(|&n| results[n]).map(|n| n + 1).collect();
    assert_eq!((high, long.next_event_cycle()), (vec![1, 5, 10, 15, 16], NEVER));
}

#[test]
fn flags_and_interrupts() {
    for layout in [L0, H7First] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, layout, &[(IER, ISR_EOS)]);
        start(&mut adc, &mut bench);
        next(&mut adc, &mut bench);
        assert_eq!(
            (read_register(&mut adc, &mut bench, ISR) & 0x3f, adc.interrupt_outputs()),
            (ISR_ADRDY | ISR_EOSMP, 0)
        );
        let due = adc.next_event_cycle();
        adc.advance_to_now(&mut bench.access_at(due));
        let all = ISR_ADRDY | ISR_EOSMP | ISR_EOC | ISR_EOS;
        assert_eq!((read_register(&mut adc, &mut bench, ISR) & 0x3f, adc.interrupt_outputs()), (all, 1), "{layout:?}");
        adc.write_register(ISR, ISR_EOS | ISR_EOSMP, &mut bench.access());
        assert_eq!(
            (read_register(&mut adc, &mut bench, ISR) & 0x3f, adc.interrupt_outputs()),
            (ISR_ADRDY | ISR_EOC, 0)
        );
        read_register(&mut adc, &mut bench, DR);
        assert_eq!(read_register(&mut adc, &mut bench, ISR) & 0x3f, ISR_ADRDY);
    }
}

#[test]
fn unread_results() {
    // CFGR, then the result after two conversions, OVR, and whether the second one has taken place.
    for (cfgr, want, overrun, waits) in
        [(0, 2048, true, false), (CFGR_OVRMOD, 4095, true, false), (CFGR_WAIT, 2048, false, true)]
    {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, L0, &[(CFGR, cfgr)]);
        start(&mut adc, &mut bench);
        adc.advance_to_now(&mut bench.access_at(100));
        assert_eq!(adc.next_event_cycle(), NEVER);
        let isr = read_register(&mut adc, &mut bench, ISR);
        assert_eq!((isr & ISR_OVR != 0, isr & ISR_EOS == 0), (overrun, waits), "{cfgr:#x}");
        assert_eq!(read_register(&mut adc, &mut bench, DR), want);
        assert_eq!(adc.next_event_cycle(), if waits { 114 } else { NEVER });
    }
}

#[test]
fn continuous_conversions_until_they_are_stopped() {
    for layout in [L0, H7First] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, layout, &[(CFGR, CFGR_CONT | if layout == L0 { 0 } else { 6 << 2 })]);
        start(&mut adc, &mut bench);
        let results = [0; 5].map(|_| next(&mut adc, &mut bench).1);
        assert_eq!(results, [2048, 4095, 2048, 4095, 2048], "{layout:?}");
        // It cannot be disabled meanwhile.
        let on = read_register(&mut adc, &mut bench, CR);
        adc.write_register(CR, on | CR_ADDIS, &mut bench.access());
        assert_eq!(read_register(&mut adc, &mut bench, CR), on);
        adc.write_register(CR, on | CR_ADSTP, &mut bench.access());
        assert_eq!((adc.next_event_cycle(), read_register(&mut adc, &mut bench, CR)), (NEVER, on & !CR_ADSTART));
        adc.write_register(CR, on & !CR_ADSTART | CR_ADDIS, &mut bench.access());
        assert_eq!(read_register(&mut adc, &mut bench, CR), on & !START);
        assert_eq!(read_register(&mut adc, &mut bench, ISR) & ISR_ADRDY, 0);
    }
}

#[test]
fn discontinuous_groups() {
    // The L0 converts one channel at a start, the H7 so many as DISCNUM says: here two of three.
    let mut bench = Bench::new();
    let mut l0 = adc(&mut bench, L0, &[(CFGR, CFGR_DISCEN)]);
    for want in [2048, 4095, 2048] {
        start(&mut l0, &mut bench);
        assert_eq!((next(&mut l0, &mut bench).1, l0.next_event_cycle()), (want, NEVER));
    }
    let sequence = 4 << 18 | 4 << 12 | 3 << 6 | 2;
    let mut h7 = adc(&mut bench, H7First, &[(SQR1, sequence), (CFGR, CFGR_DISCEN | 1 << 17)]);
    for wants in [&[32768, 65535][..], &[65535], &[32768, 65535]] {
        start(&mut h7, &mut bench);
        for &want in wants {
            assert_eq!(next(&mut h7, &mut bench).1, want);
        }
        assert_eq!(h7.next_event_cycle(), NEVER);
    }
}

#[test]
fn oversampling_adds_and_shifts() {
    // Layout, CFGR2, cycles, result of half the supply.
    for (layout, cfgr2, cycles, result) in [
        (L0, L0_PCLK | 1 | 3 << 2 | 4 << 5, 16 * 14, 2048),
        (L0, L0_PCLK | 1 | 2 << 2, 8 * 14, 8 * 2048),
        (H7First, 1 | 3 << 16 | 2 << 5, 4 * 20, 32768),
        (H7First, 1 | 9 << 16, 10 * 20, 10 * 32768),
    ] {
        let mut bench = Bench::new();
        let mut adc = adc(&mut bench, layout, &[(CFGR2, cfgr2)]);
        start(&mut adc, &mut bench);
        assert_eq!(next(&mut adc, &mut bench), (cycles, result), "{layout:?} {cfgr2:#x}");
    }
}

#[test]
fn the_h7_needs_its_regulator_and_preselected_channels() {
    let mut bench = Bench::new();
    let mut adc = AdcV4::new(H7First);
    assert_eq!(read_register(&mut adc, &mut bench, CR), CR_DEEPPWD);
    for (written, want, isr) in [
        (CR_DEEPPWD | CR_ADEN, CR_DEEPPWD, 0),
        (CR_ADEN, 0, 0),
        (CR_ADVREGEN, CR_ADVREGEN, ISR_LDORDY),
        (CR_ADVREGEN | CR_ADCAL | 1 << 16, CR_ADVREGEN | 1 << 16, ISR_LDORDY),
        (H7_ON, H7_ON, ISR_LDORDY | ISR_ADRDY),
        (CR_DEEPPWD, CR_DEEPPWD, 0),
    ] {
        adc.write_register(CR, written, &mut bench.access());
        assert_eq!(
            (read_register(&mut adc, &mut bench, CR), read_register(&mut adc, &mut bench, ISR)),
            (want, isr),
            "{written:#x}"
        );
    }
    let mut adc = super::tests::adc(&mut bench, H7First, &[(PCSEL, 0x10)]);
    start(&mut adc, &mut bench);
    assert_eq!([next(&mut adc, &mut bench).1, next(&mut adc, &mut bench).1], [0, 65535]);
}

#[test]
fn calibration_of_the_l0_and_its_reset() {
    let mut bench = Bench::new();
    let mut adc = AdcV4::new(L0);
    adc.write_register(CR, CR_ADCAL, &mut bench.access());
    assert_eq!((read_register(&mut adc, &mut bench, CR), read_register(&mut adc, &mut bench, ISR)), (0, ISR_EOCAL));
    adc.write_register(CHSELR, 1 << 17, &mut bench.access());
    adc.write_register(CFGR2, L0_PCLK, &mut bench.access());
    adc.write_register(CR, CR_ADEN, &mut bench.access());
    start(&mut adc, &mut bench);
    assert_eq!(next(&mut adc, &mut bench).1, 1224 * 4096 / 3300, "the reference");
    adc.set_pin_voltage(0, 1000);
    adc.reset_registers();
    assert_eq!(
        (read_register(&mut adc, &mut bench, CR), read_register(&mut adc, &mut bench, ISR), adc.next_event_cycle()),
        (0, 0, NEVER)
    );
    assert_eq!(adc.converters[0].millivolts[0], 1000, "the voltage is not the chip's");
}

#[test]
fn pins_of_the_inputs() {
    let name = |port: u8, number: u16| u16::from(port - b'A') * 16 + number;
    for (layout, pin, is_input) in [
        (L0, name(b'C', 5), true),
        (L0, name(b'C', 6), false),
        (H7First, name(b'F', 14), true),
        (H7First, name(b'F', 3), false),
        (H7Third, name(b'F', 3), true),
        (H7Third, name(b'A', 0), false),
        (H7Third, 0xff, false),
    ] {
        let found = AdcV4::new(layout).set_pin_voltage(pin, 1000);
        assert_eq!(found, is_input, "{layout:?} {pin}");
    }
    // The second converter has a pin of its own.
    let mut adc = AdcV4::new(H7First);
    adc.set_pin_voltage(name(b'F', 13), 1000);
    adc.set_pin_voltage(name(b'A', 0), 2000);
    let of = |n: usize| [0, 2, 16].map(|channel| adc.converters[n].millivolts[channel]);
    assert_eq!((of(0), of(1)), ([2000, 0, 2000], [2000, 1000, 0]));
}
