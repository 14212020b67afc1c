use super::*;
use crate::stm32::testing::Bench;

const CRYSTALS: Crystals = Crystals {
    hse_hz: 8_000_000,
    lse_hz: 32_768,
    // Everything starts at once: what is measured here is arithmetic and rules.
    start_up: OscillatorStartUpTimes { rc_ns: 0, hse_ns: 0, bypass_ns: 0, lsi_ns: 0, lse_ns: 0, pll_ns: 0 },
};

fn rcc(spec: &'static Spec) -> (Bench, Rcc) {
    (Bench::new(), Rcc::new(spec, CRYSTALS))
}

fn write_all(rcc: &mut Rcc, bench: &mut Bench, writes: &[(u32, u32)]) {
    for &(offset, value) in writes {
        rcc.write_register(offset, value, &mut bench.access());
    }
}

#[test]
fn registers_after_power_on() {
    for (name, spec, values) in [
        ("F1", &F1, &[(0x00, 0x83), (0x04, 0), (0x14, 0x14), (0x24, 0x0c00_0000)][..]),
        (
            "F4",
            &F4,
            &[(0x00, 0x83), (0x04, 0x2400_3010), (0x30, 0x0010_0000), (0x74, 0x0e00_0000), (0x88, 0x2400_3000)],
        ),
        ("F7", &F7, &[(0x00, 0x83), (0x84, 0x2000_3000), (0x88, 0x2000_3000)]),
        ("L0", &L0, &[(0x00, 0x300), (0x04, 0xb000), (0x30, 0x100), (0x50, 0x0c00_0000)]),
        (
            "H7",
            &H7,
            &[(0x00, 0xc025), (0x28, 0x0202_0200), (0x2c, 0x01ff_0000), (0x30, 0x0101_0280), (0xd0, 0x00fa_0000)],
        ),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        for &(offset, want) in values {
            assert_eq!(rcc.read_register(offset, &mut bench.access()), want, "{name} {offset:#x}");
        }
    }
}

/// Register writes and the clocks they give: core, HCLK, PCLK1, PCLK2, timers.
#[test]
fn prescalers_and_multipliers() {
    type Case = (&'static str, &'static Spec, &'static [(u32, u32)], [u64; 6]);
    let cases: [Case; 9] = [
        (
            "F1 HSE/2 x9",
            &F1,
            &[(0, 0x1_0083), (4, 3 << 16 | 7 << 18), (0, 0x101_0083), (4, 3 << 16 | 7 << 18 | 2)],
            [36, 36, 36, 36, 36, 36],
        ),
        ("F1 HPRE 8", &F1, &[(4, 0xa0)], [1, 1, 1, 1, 1, 1]),
        ("F1 x16 twice", &F1, &[(4, 15 << 18), (0, 0x100_0083), (4, 15 << 18 | 2 | 7 << 8)], [64, 64, 4, 64, 8, 64]),
        ("F4 HPRE 2, PPRE 4 and 8", &F4, &[(8, 8 << 4 | 5 << 10 | 6 << 13)], [8, 8, 2, 1, 4, 2]),
        ("F4 the same with TIMPRE", &F4, &[(0x8c, 1 << 24), (8, 8 << 4 | 5 << 10 | 6 << 13)], [8, 8, 2, 1, 8, 4]),
        ("F407 has no TIMPRE", &F407, &[(0x8c, 1 << 24), (8, 8 << 4 | 5 << 10 | 6 << 13)], [8, 8, 2, 1, 4, 2]),
        (
            "L0 HSI/4 x48/4",
            &L0,
            &[(0, 0x309), (0xc, 8 << 18 | 3 << 22), (0, 0x100_0309), (0xc, 8 << 18 | 3 << 22 | 3)],
            [48, 48, 48, 48, 48, 48],
        ),
        (
            "H7 D1CPRE 2, HPRE 2, PPRE 2",
            &H7,
            &[(0x18, 8 << 8 | 8 | 4 << 4), (0x1c, 4 << 4 | 5 << 8)],
            [32, 16, 8, 4, 16, 8],
        ),
        ("H7 HSIDIV 8", &H7, &[(0, 0xc03d)], [8, 8, 8, 8, 8, 8]),
    ];
    for (name, spec, writes, mhz) in cases {
        let (mut bench, mut rcc) = rcc(spec);
        write_all(&mut rcc, &mut bench, writes);
        let c = rcc.clock_frequencies();
        let seen = [c.core_hz, c.hclk_hz, c.pclk_hz[0], c.pclk_hz[1], c.timer_hz[0], c.timer_hz[1]];
        assert_eq!(seen, mhz.map(|mhz| mhz * 1_000_000), "{name}");
    }
}

#[test]
fn all_divisor_codes() {
    let ahb: Vec<u64> = (0..16).map(ahb_divisor).collect();
    assert_eq!(ahb, [1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 16, 64, 128, 256, 512]);
    let apb: Vec<u64> = (0..8).map(apb_divisor).collect();
    assert_eq!(apb, [1, 1, 1, 1, 2, 4, 8, 16]);
}

/// PLL outputs that a family's formula gives.
#[test]
fn second_and_third_pll() {
    for (name, spec, i2s, want) in [
        // F407: PLLM of the main PLL (16).
        ("F407", &F407, 192 << 6 | 2 << 28 | 2 << 24, [96, 96, 96]),
        ("F446 own M", &F4, 8 | 192 << 6 | 2 << 28 | 4 << 24, [192, 96, 192]),
        ("F7", &F7, 192 << 6 | 2 << 28 | 8 << 24, [96, 24, 96]),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        write_all(&mut rcc, &mut bench, &[(0x84, i2s), (0, 0x83 | 1 << 26)]);
        assert_eq!(rcc.clock_frequencies().pll_hz[1], want.map(|mhz: u64| mhz * 1_000_000), "{name}");
        assert_eq!(rcc.read_register(0, &mut bench.access()) >> 27 & 1, 1);
    }
}

#[test]
fn running_pll_keeps_its_factors() {
    for (name, spec, cr_on, register, value) in [
        ("F1", &F1, 0x100_0083, 0x04, 5 << 18),
        ("F4", &F4, 0x100_0083, 0x04, 0x2400_3020),
        ("L0", &L0, 0x100_0301, 0x0c, 5 << 18),
        ("H7", &H7, 0x100_c025, 0x30, 0x0101_0281),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        rcc.write_register(0, cr_on, &mut bench.access());
        let before = rcc.read_register(register, &mut bench.access());
        rcc.write_register(register, value, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()), before, "{name}");
        let off = cr_on & !(1 << 24);
        rcc.write_register(0, off, &mut bench.access());
        rcc.write_register(register, value, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()), value, "{name}");
    }
}

/// The second PLL holds the common source, and nothing else of the first one's register.
#[test]
fn any_running_pll_keeps_the_source() {
    for (name, spec, cr_on, register, value, want) in [
        ("F4", &F4, 0x400_0083, 0x04, 0x2440_3020, 0x2400_3020),
        ("F7", &F7, 0x1000_0083, 0x04, 0x2440_3020, 0x2400_3020),
        ("H7", &H7, 0x400_c025, 0x28, 0x0303_0302, 0x0302_0300),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        rcc.write_register(0, cr_on, &mut bench.access());
        rcc.write_register(register, value, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()), want, "{name}");
    }
}

#[test]
fn start_up_takes_its_time_at_any_core_clock() {
    let mut bench = Bench::new();
    let start_up = OscillatorStartUpTimes { hse_ns: 1_000_000, ..OscillatorStartUpTimes::default() };
    let mut rcc = Rcc::new(&F4, Crystals { start_up, ..CRYSTALS });
    rcc.write_register(0, 0x1_0083, &mut bench.access());
    assert_eq!(rcc.next_event_cycle(), 16_000);
    // Half way the core runs at half the speed.
    bench.core_hz /= 2;
    rcc.clocks_changed(&mut bench.access_at(8_000));
    assert_eq!(rcc.next_event_cycle(), 12_000);
    assert_eq!(rcc.read_register(0, &mut bench.access_at(11_999)) >> 17 & 1, 0);
    assert_eq!(rcc.read_register(0, &mut bench.access_at(12_000)) >> 17 & 1, 1);
    // Switched off, the flag goes. Bypassed, it comes sooner.
    rcc.write_register(0, 0x83, &mut bench.access());
    assert_eq!(rcc.read_register(0, &mut bench.access()) >> 17 & 1, 0);
    rcc.write_register(0, 0x5_0083, &mut bench.access());
    assert_eq!(rcc.next_event_cycle(), 12_016);
}

#[test]
fn pll_waits_for_its_input() {
    let mut bench = Bench::new();
    let start_up = OscillatorStartUpTimes { hse_ns: 1_000_000, pll_ns: 100_000, ..CRYSTALS.start_up };
    let mut rcc = Rcc::new(&F4, Crystals { start_up, ..CRYSTALS });
    write_all(&mut rcc, &mut bench, &[(4, 0x2440_3010), (0, 0x101_0083)]);
    assert_eq!(rcc.next_event_cycle(), 16_000);
    rcc.advance_to_now(&mut bench.access_at(16_000));
    assert_eq!((rcc.is_main_pll_ready(), rcc.next_event_cycle()), (false, 17_600));
    rcc.advance_to_now(&mut bench.access_at(17_600));
    assert!(rcc.is_main_pll_ready());
}

#[test]
fn backup_domain_needs_its_key() {
    for (name, spec, register, lse, ready, reset) in [
        ("F1", &F1, 0x20, 1, 2, 1 << 16),
        ("F4", &F4, 0x70, 1, 2, 1 << 16),
        ("L0", &L0, 0x50, 1 << 8, 1 << 9, 1 << 19),
        ("H7", &H7, 0x70, 1, 2, 1 << 16),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        let bits = lse | ready | reset;
        rcc.write_register(register, lse, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()) & bits, 0, "{name}");
        rcc.set_backup_domain_writable(true);
        rcc.write_register(register, lse, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()) & bits, lse | ready, "{name}");
        rcc.reset_registers();
        assert_eq!(rcc.read_register(register, &mut bench.access()) & bits, lse | ready, "{name}: survives a reset");
        rcc.write_register(register, reset, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()) & bits, reset, "{name}");
    }
}

#[test]
fn rtc_clock_selection() {
    for (name, spec, register, enable, select) in [("F4", &F4, 0x70, 15, 8), ("L0", &L0, 0x50, 18, 16)] {
        let (mut bench, mut rcc) = rcc(spec);
        rcc.set_backup_domain_writable(true);
        let lse = if register == 0x50 { 1 << 8 } else { 1 };
        for (code, want) in [(0, 0), (1, 32_768), (3, 0)] {
            rcc.write_register(register, lse | 1 << enable | code << select, &mut bench.access());
            assert_eq!(rcc.rtc_hz(), want, "{name} {code}");
        }
        rcc.write_register(register, lse | 1 << select, &mut bench.access());
        assert_eq!(rcc.rtc_hz(), 0, "{name}: off");
    }
}

#[test]
fn reset_flags_accumulate_until_cleared() {
    for (name, spec, register, clear, software, after_power_on) in [
        ("F1", &F1, 0x24, 24, 1 << 28, 3 << 26),
        ("F4", &F4, 0x74, 24, 1 << 28, 7 << 25),
        ("L0", &L0, 0x50, 23, 1 << 28, 3 << 26),
        ("H7", &H7, 0xd0, 16, 1 << 24 | 1 << 17, 0x00fa_0000),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        let flags = |rcc: &mut Rcc, bench: &mut Bench| rcc.read_register(register, &mut bench.access()) & 0xfffe_0000;
        assert_eq!(flags(&mut rcc, &mut bench), after_power_on, "{name}");
        rcc.reset_registers();
        rcc.set_reset_cause_flag(ResetCause::Software);
        assert_eq!(flags(&mut rcc, &mut bench), after_power_on | software, "{name}");
        rcc.write_register(register, 1 << clear, &mut bench.access());
        assert_eq!(rcc.read_register(register, &mut bench.access()), 0, "{name}");
    }
}

#[test]
fn ready_interrupts() {
    for (name, spec, enable, flags, clear) in [
        ("F4", &F4, (0x0c, 1 << 11), (0x0c, 1 << 3), (0x0c, 1 << 19 | 1 << 11)),
        ("L0", &L0, (0x10, 1 << 3), (0x14, 1 << 3), (0x18, 1 << 3)),
        ("H7", &H7, (0x60, 1 << 3), (0x64, 1 << 3), (0x68, 1 << 3)),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        rcc.write_register(enable.0, enable.1, &mut bench.access());
        let cr = rcc.read_register(0, &mut bench.access());
        rcc.write_register(0, cr | 1 << 16, &mut bench.access());
        assert_eq!(
            (rcc.read_register(flags.0, &mut bench.access()) & 0xff, rcc.interrupt_outputs()),
            (flags.1, 1),
            "{name}"
        );
        rcc.write_register(clear.0, clear.1, &mut bench.access());
        assert_eq!((rcc.read_register(flags.0, &mut bench.access()) & 0xff, rcc.interrupt_outputs()), (0, 0), "{name}");
    }
}

#[test]
fn kernel_clock_multiplexers() {
    for (name, spec, register, codes) in [
        ("L0 USART1", &L0, 0x4c, &[(0, 2_097_152), (1, 2_097_152), (2, 16_000_000), (3, 32_768)][..]),
        ("F7 USART1", &F7, 0x90, &[(0, 16_000_000), (1, 16_000_000), (2, 16_000_000), (3, 32_768)]),
        ("H7 USART2", &H7, 0x54, &[(0, 64_000_000), (1, 0), (3, 64_000_000), (4, 4_000_000), (5, 32_768), (7, 0)]),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        rcc.set_backup_domain_writable(true);
        let (lse_register, lse, on) = if spec.backup.0 == 0x50 { (0x50, 1 << 8, 0x301) } else { (0x70, 1, 0) };
        rcc.write_register(lse_register, lse, &mut bench.access());
        let cr = rcc.read_register(0, &mut bench.access());
        rcc.write_register(0, cr | on | if name.starts_with("H7") { 1 << 7 } else { 0 }, &mut bench.access());
        for &(code, want) in codes {
            rcc.write_register(register, code, &mut bench.access());
            assert_eq!(
                rcc.peripheral_kernel_clock_hz(&rcc.clock_frequencies(), (register, 0), Bus::Apb2),
                want,
                "{name} {code}"
            );
        }
    }
}

#[test]
fn gates_and_their_reset_registers() {
    for (name, spec, enable, reset) in [
        ("F1 APB2", &F1, 0x18, Some(0x0c)),
        ("F1 AHB", &F1, 0x14, None),
        ("F4 AHB1", &F4, 0x30, Some(0x10)),
        ("F4 APB2", &F4, 0x44, Some(0x24)),
        ("L0 IOP", &L0, 0x2c, Some(0x1c)),
        ("H7 APB1H", &H7, 0xec, Some(0x94)),
    ] {
        let (mut bench, mut rcc) = rcc(spec);
        assert!(!rcc.is_block_clock_enabled((enable, 5)) && !rcc.is_block_in_reset((enable, 5)), "{name}");
        rcc.write_register(enable, 1 << 5, &mut bench.access());
        assert!(rcc.is_block_clock_enabled((enable, 5)) && rcc.is_enable_or_reset_register(enable), "{name}");
        if let Some(reset) = reset {
            rcc.write_register(reset, 1 << 5, &mut bench.access());
            assert!(rcc.is_block_in_reset((enable, 5)) && rcc.is_enable_or_reset_register(reset), "{name}");
        } else {
            rcc.write_register(enable - 0x0c, 1 << 5, &mut bench.access());
            assert!(!rcc.is_block_in_reset((enable, 5)), "{name}");
        }
    }
}

/// RM0433 8.7.18 to 8.7.21: registers that choose a kernel clock, and its frequency.
#[test]
fn h7_kernel_clocks() {
    use crate::stm32::clocks::Bus;
    const HSI: u64 = 64_000_000;
    // All three PLLs at 64 MHz / 32 * 129 (258 MHz), outputs divided by 3, 4 and 5, then (register, value).
    let plls = [
        (0x28, 0x0202_0200),
        (0x30, 0x0403_0480),
        (0x38, 0x0403_0480),
        (0x40, 0x0403_0480),
        (0x28, 32 << 4 | 32 << 12 | 32 << 20),
        (0x00, 0x1500_c025 | 1 << 16 | 1 << 7),
    ];
    let (p, q) = (86_000_000, 64_500_000);
    for (clock, register, value, hz) in [
        (KernelClock::Spi123, 0x50, 0, q),
        (KernelClock::Spi123, 0x50, 1 << 12, p),
        (KernelClock::Spi123, 0x50, 2 << 12, p),
        (KernelClock::Spi123, 0x50, 3 << 12, 0),
        (KernelClock::Spi123, 0x50, 4 << 12, HSI),
        (KernelClock::Spi45, 0x50, 0, 16_000_000),
        (KernelClock::Spi45, 0x50, 1 << 16, q),
        (KernelClock::Spi45, 0x50, 3 << 16, HSI),
        (KernelClock::Spi45, 0x50, 5 << 16, 8_000_000),
        (KernelClock::Spi6, 0x58, 2 << 28, q),
        (KernelClock::Adc, 0x58, 0, p),
        (KernelClock::Adc, 0x58, 1 << 16, 51_600_000),
        (KernelClock::Adc, 0x58, 2 << 16, HSI),
        (KernelClock::Spi6, 0x58, 4 << 28, 4_000_000),
    ] {
        let (mut bench, mut rcc) = rcc(&H7);
        write_all(&mut rcc, &mut bench, &plls);
        write_all(&mut rcc, &mut bench, &[(0x1c, 5 << 8), (register, value)]);
        rcc.advance_to_now(&mut bench.access_at(1));
        let clocks = rcc.clock_frequencies();
        assert_eq!(rcc.h7_peripheral_kernel_clock_hz(&clocks, clock, Bus::Apb2), hz, "{clock:?} {value:#x}");
    }
}
