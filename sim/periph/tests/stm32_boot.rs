//! Clock set-up sequences of the usual SDKs, register access by register access, on every chip: each must end, and
//! give the clocks it is meant to give.

use rtoslab_periph::stm32::{Bus, Chip, Effects, Options, Stm32};

/// A program that reads and writes registers, a few cycles apart.
struct Program {
    chip: Stm32,
    effects: Effects,
    now: u64,
}

impl Program {
    fn new(chip: Chip, hse_hz: u64) -> Self {
        let options = Options { hse_hz, ..Options::default() };
        Self { chip: Stm32::new(chip, &options), effects: Effects::default(), now: 0 }
    }

    fn step(&mut self) {
        self.now += 5;
        while self.chip.next_advance_cycle() <= self.now {
            let due = self.chip.next_advance_cycle();
            self.chip.process_events_until(due, &mut self.effects);
        }
    }

    fn read_register(&mut self, address: u32) -> u32 {
        self.step();
        self.chip.read_register(address, 4, self.now, &mut self.effects)
    }

    fn write_register(&mut self, address: u32, value: u32) {
        self.step();
        self.chip.write_register(address, 4, value, self.now, &mut self.effects);
        assert_eq!(self.effects.unclocked, None, "a block without its clock");
    }

    fn modify(&mut self, address: u32, clear: u32, set: u32) {
        let value = self.read_register(address);
        self.write_register(address, value & !clear | set);
    }

    fn set(&mut self, address: u32, bits: u32) {
        self.modify(address, 0, bits);
    }

    fn clear(&mut self, address: u32, bits: u32) {
        self.modify(address, bits, 0);
    }

    /// Polls until the masked bits are `want`; returns the number of reads.
    #[track_caller]
    fn wait(&mut self, address: u32, mask: u32, want: u32) -> u32 {
        for reads in 1..1_000_000 {
            if self.read_register(address) & mask == want {
                return reads;
            }
        }
        panic!("{address:#x} never showed {want:#x} in {mask:#x}");
    }

    #[track_caller]
    fn expect(&self, core: u64, hclk: u64, pclk: [u64; 2], timers: [u64; 2]) {
        let clocks = self.chip.clock_frequencies();
        assert_eq!((clocks.core_hz, clocks.hclk_hz), (core, hclk));
        assert_eq!((clocks.bus_hz(Bus::Apb1), clocks.bus_hz(Bus::Apb2)), (pclk[0], pclk[1]));
        assert_eq!(clocks.timer_hz, timers);
    }
}

/// RCC, FLASH and PWR of the F4 and F7.
mod f4 {
    pub const RCC_CR: u32 = 0x4002_3800;
    pub const PLLCFGR: u32 = 0x4002_3804;
    pub const CFGR: u32 = 0x4002_3808;
    pub const APB1ENR: u32 = 0x4002_3840;
    pub const APB2ENR: u32 = 0x4002_3844;
    pub const DCKCFGR: u32 = 0x4002_388c;
    pub const ACR: u32 = 0x4002_3c00;
    pub const PWR_CR: u32 = 0x4000_7000;
    pub const PWR_CSR: u32 = 0x4000_7004;
}

const HSEON: u32 = 1 << 16;
const HSEBYP: u32 = 1 << 18;
const PLLON: u32 = 1 << 24;
const PLLRDY: u32 = 1 << 25;

#[test]
fn reset_clocks_are_the_parts() {
    for (chip, core_hz) in [
        (Chip::L053, 2_097_152),
        (Chip::L073, 2_097_152),
        (Chip::F103, 8_000_000),
        (Chip::F407, 16_000_000),
        (Chip::F411, 16_000_000),
        (Chip::F446, 16_000_000),
        (Chip::F767, 16_000_000),
        (Chip::H743, 64_000_000),
    ] {
        let chip = Stm32::new(chip, &Options::default());
        let clocks = chip.clock_frequencies();
        assert_eq!(
            (clocks.core_hz, clocks.hclk_hz, clocks.pclk_hz[0]),
            (core_hz, core_hz, core_hz),
            "{:?}",
            chip.chip()
        );
        assert_eq!(clocks.systick_reference_hz(), core_hz / 8);
    }
}

/// HAL: PWR clock and scale, HSE from the debugger's 8 MHz, PLL 180 MHz, over-drive, five wait states.
#[test]
fn f446_hal_180_mhz_with_over_drive() {
    use f4::*;
    let mut p = Program::new(Chip::F446, 8_000_000);
    p.set(APB1ENR, 1 << 28);
    p.read_register(APB1ENR);
    p.modify(PWR_CR, 3 << 14, 3 << 14);
    p.set(RCC_CR, HSEBYP);
    p.set(RCC_CR, HSEON);
    p.wait(RCC_CR, 1 << 17, 1 << 17);
    p.clear(RCC_CR, PLLON);
    p.wait(RCC_CR, PLLRDY, 0);
    // M 4, N 180, P 2, HSE, Q 7, R 2.
    p.write_register(PLLCFGR, 4 | 180 << 6 | 1 << 22 | 7 << 24 | 2 << 28);
    p.set(RCC_CR, PLLON);
    assert!(p.wait(RCC_CR, PLLRDY, PLLRDY) > 10, "the PLL must take time to lock");
    p.set(PWR_CR, 1 << 16);
    p.wait(PWR_CSR, 1 << 16, 1 << 16);
    p.set(PWR_CR, 1 << 17);
    p.wait(PWR_CSR, 1 << 17, 1 << 17);
    p.modify(ACR, 0xf, 5);
    assert_eq!(p.read_register(ACR) & 0xf, 5);
    p.modify(CFGR, 7 << 10, 7 << 10);
    p.modify(CFGR, 7 << 13, 7 << 13);
    p.modify(CFGR, 0xf << 4, 0);
    p.modify(CFGR, 3, 2);
    p.wait(CFGR, 3 << 2, 2 << 2);
    p.modify(CFGR, 7 << 10, 5 << 10);
    p.modify(CFGR, 7 << 13, 4 << 13);
    p.set(ACR, 1 << 8 | 1 << 9 | 1 << 10);
    p.expect(180_000_000, 180_000_000, [45_000_000, 90_000_000], [90_000_000, 180_000_000]);
    p.set(DCKCFGR, 1 << 24);
    assert_eq!(p.chip.clock_frequencies().timer_hz, [180_000_000, 180_000_000]);
    assert_eq!(p.chip.clock_frequencies().pll_hz[0], [180_000_000, 51_428_571, 180_000_000]);
    let control = p.chip.flash_read_settings();
    assert_eq!(
        (control.wait_states, control.prefetch, control.instruction_cache, control.data_cache),
        (5, true, true, true)
    );
    assert!(p.effects.flash_timing_changed && p.effects.clocks_changed);
}

/// The PLL's R output as system clock.
#[test]
fn f446_pllr_drives_the_system() {
    use f4::*;
    let mut p = Program::new(Chip::F446, 8_000_000);
    p.write_register(PLLCFGR, 16 | 160 << 6 | 2 << 24 | 4 << 28);
    p.set(RCC_CR, PLLON);
    p.wait(RCC_CR, PLLRDY, PLLRDY);
    p.modify(CFGR, 3, 3);
    p.wait(CFGR, 3 << 2, 3 << 2);
    p.expect(40_000_000, 40_000_000, [40_000_000; 2], [40_000_000; 2]);
}

/// NuttX: HSE, voltage scale, prescalers, PLL, wait states, switch; VOSRDY is polled once the PLL runs.
#[test]
fn f407_nuttx_168_mhz() {
    use f4::*;
    let mut p = Program::new(Chip::F407, 25_000_000);
    p.modify(RCC_CR, HSEBYP, HSEON);
    p.wait(RCC_CR, 1 << 17, 1 << 17);
    p.set(APB1ENR, 1 << 28);
    p.modify(PWR_CR, 0, 1 << 14);
    p.modify(CFGR, 0xf << 4, 0);
    p.modify(CFGR, 7 << 13, 4 << 13);
    p.modify(CFGR, 7 << 10, 5 << 10);
    p.write_register(PLLCFGR, 25 | 336 << 6 | 1 << 22 | 7 << 24);
    p.set(RCC_CR, PLLON);
    p.wait(RCC_CR, PLLRDY, PLLRDY);
    p.wait(PWR_CSR, 1 << 14, 1 << 14);
    p.write_register(ACR, 5 | 1 << 8 | 1 << 9 | 1 << 10);
    p.modify(CFGR, 3, 2);
    p.wait(CFGR, 3 << 2, 2 << 2);
    p.expect(168_000_000, 168_000_000, [42_000_000, 84_000_000], [84_000_000, 168_000_000]);
    assert_eq!(p.chip.clock_frequencies().pll_hz[0][1], 48_000_000);
}

/// Zephyr (LL): PLL from HSI for 84 MHz, as on boards without a crystal.
#[test]
fn f411_zephyr_84_mhz_from_hsi() {
    use f4::*;
    let mut p = Program::new(Chip::F411, 0);
    p.set(APB1ENR, 1 << 28);
    p.modify(PWR_CR, 3 << 14, 2 << 14);
    p.wait(RCC_CR, 2, 2);
    p.clear(RCC_CR, PLLON);
    p.modify(PLLCFGR, 0x7fff | 3 << 16 | 1 << 22, 16 | 336 << 6 | 1 << 16);
    p.set(RCC_CR, PLLON);
    p.wait(RCC_CR, PLLRDY, PLLRDY);
    p.modify(ACR, 0xf, 2);
    p.wait(ACR, 0xf, 2);
    p.modify(CFGR, 7 << 10, 4 << 10);
    p.modify(CFGR, 3, 2);
    p.wait(CFGR, 3 << 2, 2 << 2);
    p.expect(84_000_000, 84_000_000, [42_000_000, 84_000_000], [84_000_000, 84_000_000]);
}

/// HAL for the crystal board: 100 MHz from 25 MHz.
#[test]
fn f411_hal_100_mhz_from_hse() {
    use f4::*;
    let mut p = Program::new(Chip::F411, 25_000_000);
    p.set(APB1ENR, 1 << 28);
    p.modify(PWR_CR, 3 << 14, 3 << 14);
    p.set(RCC_CR, HSEON);
    p.wait(RCC_CR, 1 << 17, 1 << 17);
    p.write_register(PLLCFGR, 25 | 200 << 6 | 1 << 22 | 4 << 24 | 2 << 28);
    p.set(RCC_CR, PLLON);
    p.wait(RCC_CR, PLLRDY, PLLRDY);
    p.modify(ACR, 0xf, 3);
    p.modify(CFGR, 7 << 10 | 3, 4 << 10 | 2);
    p.wait(CFGR, 3 << 2, 2 << 2);
    p.expect(100_000_000, 100_000_000, [50_000_000, 100_000_000], [100_000_000, 100_000_000]);
    p.wait(PWR_CSR, 1 << 14, 1 << 14);
}

/// HAL: bypassed HSE, 216 MHz, over-drive, seven wait states, ART and prefetch.
#[test]
fn f767_hal_216_mhz_with_over_drive() {
    use f4::*;
    let mut p = Program::new(Chip::F767, 8_000_000);
    p.set(APB1ENR, 1 << 28);
    p.modify(PWR_CR, 3 << 14, 3 << 14);
    p.set(RCC_CR, HSEBYP | HSEON);
    p.wait(RCC_CR, 1 << 17, 1 << 17);
    p.write_register(PLLCFGR, 4 | 216 << 6 | 1 << 22 | 9 << 24 | 2 << 28);
    p.set(RCC_CR, PLLON);
    p.wait(RCC_CR, PLLRDY, PLLRDY);
    p.set(PWR_CR, 1 << 16);
    p.wait(PWR_CSR, 1 << 16, 1 << 16);
    p.set(PWR_CR, 1 << 17);
    p.wait(PWR_CSR, 1 << 17, 1 << 17);
    p.write_register(ACR, 7 | 1 << 8 | 1 << 9);
    p.wait(ACR, 0xf, 7);
    p.modify(CFGR, 7 << 10 | 7 << 13, 5 << 10 | 4 << 13);
    p.modify(CFGR, 3, 2);
    p.wait(CFGR, 3 << 2, 2 << 2);
    p.expect(216_000_000, 216_000_000, [54_000_000, 108_000_000], [108_000_000, 216_000_000]);
    assert_eq!(p.chip.clock_frequencies().pll_hz[0][1], 48_000_000);
    p.wait(PWR_CSR, 1 << 14, 1 << 14);
    // PLLI2S and PLLSAI ready loops of NuttX; both divide by the main PLL's M.
    p.write_register(0x4002_3884, 192 << 6 | 2 << 24 | 2 << 28);
    p.set(RCC_CR, 1 << 26);
    p.wait(RCC_CR, 1 << 27, 1 << 27);
    p.write_register(0x4002_3888, 192 << 6 | 3 << 16 | 2 << 24 | 2 << 28);
    p.set(RCC_CR, 1 << 28);
    p.wait(RCC_CR, 1 << 29, 1 << 29);
    assert_eq!(p.chip.clock_frequencies().pll_hz[1][2], 192_000_000);
    assert_eq!(p.chip.clock_frequencies().pll_hz[2][0], 48_000_000);
}

/// NuttX and HAL: HSE, two wait states with prefetch, 72 MHz.
#[test]
fn f103_hal_72_mhz() {
    const CR: u32 = 0x4002_1000;
    const CFGR: u32 = 0x4002_1004;
    const ACR: u32 = 0x4002_2000;
    let mut p = Program::new(Chip::F103, 8_000_000);
    assert_eq!(p.read_register(ACR), 0x30);
    p.set(CR, HSEON);
    let reads = p.wait(CR, 1 << 17, 1 << 17);
    // 2 ms of crystal start-up at 8 MHz, 5 cycles a read.
    assert!((3_000..3_400).contains(&reads), "{reads}");
    p.write_register(ACR, 0x12);
    assert_eq!(p.read_register(ACR), 0x32);
    p.modify(CFGR, 0x3ffc_fff0, 1 << 16 | 7 << 18 | 4 << 8);
    p.set(CR, PLLON);
    p.wait(CR, PLLRDY, PLLRDY);
    p.modify(CFGR, 3, 2);
    p.wait(CFGR, 0xc, 8);
    p.expect(72_000_000, 72_000_000, [36_000_000, 72_000_000], [72_000_000, 72_000_000]);
    let control = p.chip.flash_read_settings();
    assert_eq!((control.wait_states, control.prefetch), (2, true));
    // HSE and PLL cannot be switched off under the system clock.
    p.clear(CR, HSEON | PLLON);
    assert_eq!(p.read_register(CR) & (HSEON | PLLON), HSEON | PLLON);
}

/// SPL-style: HSI/2 times 16 gives 64 MHz.
#[test]
fn f103_64_mhz_from_hsi() {
    let mut p = Program::new(Chip::F103, 0);
    p.modify(0x4002_1004, 0, 14 << 18 | 4 << 8);
    p.set(0x4002_1000, PLLON);
    p.wait(0x4002_1000, PLLRDY, PLLRDY);
    p.modify(0x4002_1004, 3, 2);
    p.wait(0x4002_1004, 0xc, 8);
    p.expect(64_000_000, 64_000_000, [32_000_000, 64_000_000], [64_000_000, 64_000_000]);
}

/// HAL and NuttX on the L0: range 1, HSI16, PLL 4/2, one wait state with prefetch; VREFINT is polled for HSI48.
#[test]
fn l0_hal_32_mhz() {
    const CR: u32 = 0x4002_1000;
    const CFGR: u32 = 0x4002_100c;
    for chip in [Chip::L053, Chip::L073] {
        let mut p = Program::new(chip, 8_000_000);
        p.set(0x4002_1038, 1 << 28);
        p.modify(0x4000_7000, 3 << 11, 1 << 11);
        p.wait(0x4000_7004, 1 << 4, 0);
        p.set(CR, 1);
        p.wait(CR, 1 << 2, 1 << 2);
        p.modify(CFGR, 1 << 16 | 0xf << 18 | 3 << 22, 1 << 18 | 1 << 22);
        p.set(CR, PLLON);
        p.wait(CR, PLLRDY, PLLRDY);
        p.set(0x4002_2000, 1);
        p.wait(0x4002_2000, 1, 1);
        p.modify(CFGR, 3, 3);
        p.wait(CFGR, 0xc, 0xc);
        p.expect(32_000_000, 32_000_000, [32_000_000; 2], [32_000_000; 2]);
        p.clear(CR, 1 << 8);
        p.wait(CR, 1 << 9, 0);
        p.set(0x4002_1034, 1);
        p.wait(0x4001_0020, 1 << 30, 1 << 30);
        p.set(0x4002_1008, 1);
        p.wait(0x4002_1008, 2, 2);
    }
}

/// The L0's MSI ranges.
#[test]
fn l0_msi_ranges_change_the_core_at_once() {
    let mut p = Program::new(Chip::L053, 0);
    for range in 0..7 {
        p.modify(0x4002_1004, 7 << 13, range << 13);
        assert_eq!(p.chip.clock_frequencies().core_hz, 65_536 << range);
    }
}

/// H743: SystemInit, supply, VOS1, HSE, PLL1 400 MHz, D1 prescalers, switch (HAL); revision V continues to VOS0.
#[test]
fn h743_hal_400_mhz() {
    let mut p = Program::new(Chip::H743, 8_000_000);
    h743_system_init(&mut p);
    p.modify(PWR + 0xc, 7, 2);
    p.wait(PWR + 4, 1 << 13, 1 << 13);
    p.modify(PWR + 0x18, 3 << 14, 3 << 14);
    p.wait(PWR + 0x18, 1 << 13, 1 << 13);
    h743_pll(&mut p, 1, 100, 1);
    p.modify(0x5200_2000, 0xf, 2);
    p.wait(0x5200_2000, 0xf, 2);
    h743_switch(&mut p);
    p.expect(400_000_000, 200_000_000, [100_000_000; 2], [200_000_000; 2]);
    let clocks = p.chip.clock_frequencies();
    assert_eq!((clocks.bus_hz(Bus::Apb3), clocks.bus_hz(Bus::Apb4)), (100_000_000, 100_000_000));
    assert_eq!((clocks.core_cycles_per_bus_cycle(Bus::Ahb4), clocks.core_cycles_per_bus_cycle(Bus::Apb1)), (2, 4));
}

#[test]
fn h743_vos0_480_mhz_and_fractional_pll() {
    let mut p = Program::new(Chip::H743, 8_000_000);
    h743_system_init(&mut p);
    p.modify(PWR + 0xc, 7, 2);
    p.wait(PWR + 4, 1 << 13, 1 << 13);
    p.modify(PWR + 0x18, 3 << 14, 3 << 14);
    p.wait(PWR + 0x18, 1 << 13, 1 << 13);
    // VOS0: SYSCFG clock, ODEN.
    p.set(RCC + 0xf4, 2);
    p.set(0x5800_042c, 1);
    p.wait(PWR + 0x18, 1 << 13, 1 << 13);
    h743_pll(&mut p, 1, 120, 1);
    p.modify(0x5200_2000, 0xff, 4 | 2 << 4);
    h743_switch(&mut p);
    p.expect(480_000_000, 240_000_000, [120_000_000; 2], [240_000_000; 2]);
    // PLL2: 8 MHz / 1 * (24 + 4096/8192) / 2.
    p.modify(RCC + 0x28, 0x3f << 12, 1 << 12);
    p.write_register(RCC + 0x38, 23 | 1 << 9 | 1 << 16 | 1 << 24);
    p.write_register(RCC + 0x3c, 4096 << 3);
    p.set(RCC + 0x2c, 1 << 4);
    p.set(RCC, 1 << 26);
    p.wait(RCC, 1 << 27, 1 << 27);
    assert_eq!(p.chip.clock_frequencies().pll_hz[1], [98_000_000; 3]);
}

const RCC: u32 = 0x5802_4400;
const PWR: u32 = 0x5802_4800;

/// ST's SystemInit, which writes some addresses that only have to be there.
fn h743_system_init(p: &mut Program) {
    assert_eq!(p.read_register(0x5200_2000) & 0xf, 7);
    p.set(RCC, 1);
    p.write_register(RCC + 0x10, 0);
    let cr = p.read_register(RCC);
    p.write_register(RCC, cr & 0xeaf6_ed7f);
    for (offset, value) in [(0x18, 0), (0x1c, 0), (0x20, 0), (0x28, 0x0202_0200), (0x2c, 0x01ff_0000)] {
        p.write_register(RCC + offset, value);
    }
    for n in 0..3 {
        p.write_register(RCC + 0x30 + 8 * n, 0x0101_0280);
        p.write_register(RCC + 0x34 + 8 * n, 0);
    }
    p.clear(RCC, HSEBYP);
    p.write_register(RCC + 0x60, 0);
    assert_eq!(p.read_register(0x5c00_1000), 0x2003_6450);
    p.write_register(0x5100_8108, 1);
    if p.read_register(RCC + 0xd4) & 1 << 12 == 0 {
        p.set(RCC + 0xd4, 1 << 12);
        p.read_register(RCC + 0xd4);
        p.write_register(0x5200_4000, 0x0000_30d2);
        p.clear(RCC + 0xd4, 1 << 12);
    }
    p.effects.unmodelled = None;
    assert_eq!(p.chip.clock_frequencies().core_hz, 64_000_000);
}

/// HSE on, PLL1 = HSE / m * n / p.
fn h743_pll(p: &mut Program, m: u32, n: u32, post: u32) {
    p.set(RCC, HSEBYP | HSEON);
    p.wait(RCC, 1 << 17, 1 << 17);
    p.clear(RCC, PLLON);
    p.wait(RCC, PLLRDY, 0);
    p.modify(RCC + 0x28, 3 | 0x3f << 4, 2 | m << 4);
    p.write_register(RCC + 0x30, (n - 1) | (2 * post - 1) << 9 | 3 << 16 | 1 << 24);
    p.clear(RCC + 0x2c, 1);
    p.set(RCC + 0x2c, 1 << 16 | 1 << 17);
    p.set(RCC, PLLON);
    p.wait(RCC, PLLRDY, PLLRDY);
}

fn h743_switch(p: &mut Program) {
    p.modify(RCC + 0x18, 7 << 4, 4 << 4);
    p.modify(RCC + 0x1c, 0x770, 4 << 4 | 4 << 8);
    p.modify(RCC + 0x20, 7 << 4, 4 << 4);
    p.modify(RCC + 0x18, 0xf, 8);
    p.modify(RCC + 0x10, 7, 3);
    p.wait(RCC + 0x10, 7 << 3, 3 << 3);
    p.modify(RCC + 0x18, 0xf << 8, 0);
}

/// A switch to a source that is not ready waits for it.
#[test]
fn switch_waits_for_its_source() {
    use f4::*;
    let mut p = Program::new(Chip::F446, 8_000_000);
    p.set(RCC_CR, HSEON);
    p.modify(CFGR, 3, 1);
    assert_eq!((p.read_register(CFGR) & 0xc, p.chip.clock_frequencies().core_hz), (0, 16_000_000));
    p.wait(RCC_CR, 1 << 17, 1 << 17);
    assert_eq!((p.read_register(CFGR) & 0xc, p.chip.clock_frequencies().core_hz), (4, 8_000_000));
    // Without a crystal it never comes.
    let mut p = Program::new(Chip::F446, 0);
    p.set(RCC_CR, HSEON);
    p.modify(CFGR, 3, 1);
    p.now += 100_000_000;
    assert_eq!((p.read_register(CFGR) & 0xc, p.read_register(RCC_CR) >> 17 & 1), (0, 0));
}

/// A block without its clock reads 0, ignores writes, and the user is told once.
#[test]
fn block_without_its_clock_is_dead() {
    use f4::*;
    let mut p = Program::new(Chip::F446, 8_000_000);
    p.chip.write_register(0x4001_3808, 4, 0xffff, 5, &mut p.effects);
    assert_eq!(p.effects.unclocked.take(), Some((0x4001_3808, true)));
    assert_eq!(p.read_register(0x4001_3808), 0);
    assert_eq!(p.effects.unclocked, None);
    p.set(APB2ENR, 1 << 14);
    assert_eq!(p.read_register(0x4001_3808), 0);
    p.write_register(0x4001_3808, 0x1234);
    assert_eq!(p.read_register(0x4001_3808), 0x1234);
    // RCC's reset bit puts the block back.
    p.set(0x4002_3824, 1 << 14);
    assert_eq!(p.read_register(0x4001_3808), 0);
    p.clear(0x4002_3824, 1 << 14);
    assert_eq!(p.read_register(0x4001_3808), 0);
}

/// Every chip prints at 115200 baud from its reset clock: the UART that its board's debugger listens to.
#[test]
fn every_chip_prints_at_its_baud_rate() {
    // Chip, port, base, (enable register, bit), first of the two register layouts.
    for (chip, number, base, enable, v1) in [
        (Chip::L053, 2, 0x4000_4400, (0x4002_1038, 17), false),
        (Chip::L073, 2, 0x4000_4400, (0x4002_1038, 17), false),
        (Chip::F103, 2, 0x4000_4400, (0x4002_101c, 17), true),
        (Chip::F407, 1, 0x4001_1000, (0x4002_3844, 4), true),
        (Chip::F411, 1, 0x4001_1000, (0x4002_3844, 4), true),
        (Chip::F446, 2, 0x4000_4400, (0x4002_3840, 17), true),
        (Chip::F767, 3, 0x4000_4800, (0x4002_3840, 18), false),
        (Chip::H743, 3, 0x4000_4800, (0x5802_44e8, 18), false),
    ] {
        let mut p = Program::new(chip, 8_000_000);
        let hz = p.chip.clock_frequencies().core_hz;
        p.set(enable.0, 1 << enable.1);
        let divider = (hz / 115_200) as u32;
        let (status, data) = if v1 {
            p.write_register(base + 0x08, divider);
            p.write_register(base + 0x0c, 1 << 13 | 1 << 3);
            (base, base + 4)
        } else {
            p.write_register(base + 0x0c, divider);
            p.write_register(base, 1 | 1 << 3);
            p.wait(base + 0x1c, 1 << 21, 1 << 21);
            (base + 0x1c, base + 0x28)
        };
        // After the idle frame.
        let start = p.now;
        for &byte in b"boot" {
            p.wait(status, 1 << 7, 1 << 7);
            p.write_register(data, u32::from(byte));
        }
        p.wait(status, 1 << 6, 1 << 6);
        let text: Vec<_> = p.effects.uart_tx.clone();
        assert_eq!(text, b"boot".map(|byte| (number, byte)), "{chip:?}");
        // The idle frame and four bytes of ten bits each.
        let bits = 50 * u64::from(divider);
        assert!((bits - 10..bits + 30).contains(&(p.now - start)), "{chip:?}: {} for {bits}", p.now - start);
    }
}

/// UID and flash size are where the data sheets have them.
#[test]
fn factory_words() {
    for (chip, uid, size, kb) in [
        (Chip::L053, 0x1ff8_0050, 0x1ff8_007c, 64),
        (Chip::F103, 0x1fff_f7e8, 0x1fff_f7e0, 128),
        (Chip::F407, 0x1fff_7a10, 0x1fff_7a20, 1024 << 16),
        (Chip::F767, 0x1ff0_f420, 0x1ff0_f440, 2048 << 16),
        (Chip::H743, 0x1ff1_e800, 0x1ff1_e880, 2048),
    ] {
        let chip = Stm32::new(chip, &Options::default());
        assert_eq!(chip.factory_programmed_word(size), Some(kb), "{:?}", chip.chip());
        assert!(chip.factory_programmed_word(uid).is_some_and(|word| word != 0));
        assert_eq!(chip.factory_programmed_word(uid - 0x100), None);
    }
}

/// Names as boards give them.
#[test]
fn chips_have_names() {
    for (name, chip) in [
        ("stm32f446re", Some(Chip::F446)),
        ("stm32h743", Some(Chip::H743)),
        ("STM32L073RZ", Some(Chip::L073)),
        ("rp2040", None),
    ] {
        assert_eq!(Chip::from_name(name), chip, "{name}");
    }
}
