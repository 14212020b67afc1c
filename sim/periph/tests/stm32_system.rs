//! Watchdogs, the backup domain and flash programming through the chip's address map.

use rtoslab_periph::stm32::{Chip, Effects, FlashStore, Options, ResetCause, Stm32};

struct Program {
    chip: Stm32,
    effects: Effects,
    now: u64,
}

impl Program {
    fn new(chip: Chip) -> Self {
        Self { chip: Stm32::new(chip, &Options::default()), effects: Effects::default(), now: 0 }
    }

    fn step(&mut self, cycles: u64) {
        let end = self.now + cycles;
        while self.chip.next_advance_cycle() <= end {
            let due = self.chip.next_advance_cycle();
            self.chip.process_events_until(due, &mut self.effects);
        }
        self.now = end;
    }

    fn read_register(&mut self, address: u32) -> u32 {
        self.step(4);
        self.chip.read_register(address, 4, self.now, &mut self.effects)
    }

    fn write_register(&mut self, address: u32, value: u32) {
        self.step(4);
        self.chip.write_register(address, 4, value, self.now, &mut self.effects);
    }

    fn set(&mut self, address: u32, bits: u32) {
        let value = self.read_register(address);
        self.write_register(address, value | bits);
    }

    #[track_caller]
    fn wait(&mut self, address: u32, mask: u32, want: u32) {
        for _ in 0..100_000 {
            if self.read_register(address) & mask == want {
                return;
            }
            self.step(10_000);
        }
        panic!("{address:#x} never showed {want:#x} in {mask:#x}");
    }
}

/// Where RTC, its clock and PWR are: RTC base, backup register and its LSEON, LSERDY, RTCSEL for the LSE, RTCEN and
/// reset bits, PWR's control register, the enable bits of PWR.
type Domain = (Chip, u32, u32, [u32; 5], u32, (u32, u32));

const DOMAINS: [Domain; 5] = [
    (Chip::F446, 0x4000_2800, 0x4002_3870, [0, 1, 8, 15, 16], 0x4000_7000, (0x4002_3840, 1 << 28)),
    (Chip::F767, 0x4000_2800, 0x4002_3870, [0, 1, 8, 15, 16], 0x4000_7000, (0x4002_3840, 1 << 28)),
    (Chip::L053, 0x4000_2800, 0x4002_1050, [8, 9, 16, 18, 19], 0x4000_7000, (0x4002_1038, 1 << 28)),
    (Chip::H743, 0x5800_4000, 0x5802_4470, [0, 1, 8, 15, 16], 0x5802_4800, (0x5802_44f4, 1 << 16)),
    (Chip::F103, 0x4000_2800, 0x4002_1020, [0, 1, 8, 15, 16], 0x4000_7000, (0x4002_101c, 1 << 28 | 1 << 27)),
];

/// HAL_RTC_Init: open the domain, start the LSE, select it, initialise; the calendar survives a reset of the chip
/// and not one of the domain.
#[test]
fn rtc_from_the_lse() {
    for (chip, rtc, bdcr, [on, ready, select, enable, reset], pwr, gate) in DOMAINS {
        let mut p = Program::new(chip);
        p.set(gate.0, gate.1);
        // Closed: neither the clock nor the registers take anything.
        p.set(bdcr, 1 << on);
        p.write_register(rtc + 0x50, 0x1234);
        assert_eq!((p.read_register(bdcr) >> on & 1, p.read_register(rtc + 0x50)), (0, 0), "{chip:?}");
        p.set(pwr, 1 << 8);
        p.set(bdcr, 1 << on);
        p.wait(bdcr, 1 << ready, 1 << ready);
        p.set(bdcr, 1 << select | 1 << enable);
        let time = if chip == Chip::F103 {
            p.wait(rtc + 4, 1 << 5, 1 << 5);
            p.write_register(rtc + 4, 1 << 4);
            p.write_register(rtc + 0x0c, 0x7fff);
            p.write_register(rtc + 0x1c, 0x1234);
            p.write_register(rtc + 4, 0);
            p.wait(rtc + 4, 1 << 5, 1 << 5);
            0x1c
        } else {
            p.write_register(rtc + 0x24, 0xca);
            p.write_register(rtc + 0x24, 0x53);
            p.write_register(rtc + 0x0c, 1 << 7);
            p.wait(rtc + 0x0c, 1 << 6, 1 << 6);
            p.write_register(rtc, 0x1234);
            p.write_register(rtc + 0x0c, 0);
            p.wait(rtc + 0x0c, 1 << 5, 1 << 5);
            0x00
        };
        assert_eq!(p.read_register(rtc + time) & 0xffff, 0x1234, "{chip:?}");
        p.step(p.chip.clock_frequencies().core_hz);
        assert_eq!(p.read_register(rtc + time) & 0xffff, 0x1235, "{chip:?}: a second later");
        p.chip.reset_non_backup_blocks(ResetCause::Software, p.now, &mut p.effects);
        p.step(p.chip.clock_frequencies().core_hz);
        if chip != Chip::F103 && chip != Chip::H743 {
            assert_eq!(p.read_register(rtc + time) & 0xffff, 0x1236, "{chip:?}: it goes on");
        }
        p.set(gate.0, gate.1);
        p.set(pwr, 1 << 8);
        assert_ne!(p.read_register(rtc + time) & 0xffff, 0);
        p.write_register(bdcr, 1 << reset);
        p.write_register(bdcr, 0);
        assert_eq!(p.read_register(rtc + time) & 0xffff, 0, "{chip:?}: the domain was reset");
    }
}

/// The independent watchdog resets the chip, which then tells why.
#[test]
fn iwdg_resets_and_leaves_its_flag() {
    for (chip, iwdg, csr, flag) in [
        (Chip::F103, 0x4000_3000, 0x4002_1024, 29),
        (Chip::F411, 0x4000_3000, 0x4002_3874, 29),
        (Chip::L073, 0x4000_3000, 0x4002_1050, 29),
        (Chip::H743, 0x5800_4800, 0x5802_44d0, 26),
    ] {
        let mut p = Program::new(chip);
        for key_or_value in [(0, 0x5555), (4, 0), (8, 9)] {
            p.write_register(iwdg + key_or_value.0, key_or_value.1);
        }
        p.write_register(iwdg, 0xcccc);
        for _ in 0..20 {
            p.step(p.chip.clock_frequencies().core_hz / 2000);
            p.write_register(iwdg, 0xaaaa);
        }
        assert_eq!(p.effects.chip_reset, None, "{chip:?}");
        p.step(p.chip.clock_frequencies().core_hz / 500);
        assert_eq!(p.effects.chip_reset, Some(ResetCause::Iwdg), "{chip:?}");
        p.chip.reset_non_backup_blocks(ResetCause::Iwdg, p.now, &mut p.effects);
        assert_eq!(p.read_register(csr) >> flag & 1, 1, "{chip:?}");
        p.effects.chip_reset = None;
        p.step(p.chip.clock_frequencies().core_hz);
        assert_eq!(p.effects.chip_reset, None, "{chip:?}: it is off after the reset");
    }
}

/// HAL_FLASH_Program on the F4, its stores handed over by the machine.
#[test]
fn flash_programs_through_the_chip() {
    let mut p = Program::new(Chip::F446);
    assert_eq!(p.chip.store_to_flash_array(0x0806_0000, 4, p.now, &mut p.effects), FlashStore::Refused);
    p.write_register(0x4002_3c04, 0x4567_0123);
    p.write_register(0x4002_3c04, 0xcdef_89ab);
    p.write_register(0x4002_3c10, 2 | 7 << 3 | 2 << 8);
    p.set(0x4002_3c10, 1 << 16);
    assert_eq!((p.effects.erase[0].address, p.effects.erase[0].bytes), (0x0806_0000, 0x2_0000));
    p.wait(0x4002_3c0c, 1 << 16, 0);
    p.write_register(0x4002_3c10, 1 | 2 << 8);
    assert_eq!(p.chip.store_to_flash_array(0x0806_0000, 4, p.now, &mut p.effects), FlashStore::Program);
    assert_eq!(p.read_register(0x4002_3c0c) >> 16 & 1, 1);
    p.wait(0x4002_3c0c, 1 << 16, 0);
}

/// A byte written to a register of flags clears those of its byte only.
#[test]
fn narrow_writes_to_flags() {
    let mut p = Program::new(Chip::L053);
    // WRPERR (bit 8) from a store to the locked array; EOP (bit 1) from one to the EEPROM.
    p.chip.store_to_flash_array(0x0800_0000, 4, p.now, &mut p.effects);
    p.write_register(0x4002_200c, 0x89ab_cdef);
    p.write_register(0x4002_200c, 0x0203_0405);
    assert_eq!(p.chip.store_to_flash_array(0x0808_0000, 4, p.now, &mut p.effects), FlashStore::Program);
    p.wait(0x4002_2018, 1, 0);
    assert_eq!(p.read_register(0x4002_2018) & 0x103, 0x102);
    p.chip.write_register(0x4002_2018, 1, 2, p.now, &mut p.effects);
    assert_eq!(p.read_register(0x4002_2018) & 0x103, 0x100);
    p.chip.write_register(0x4002_2019, 1, 1, p.now, &mut p.effects);
    assert_eq!(p.read_register(0x4002_2018) & 0x103, 0);
}

/// CRC over the bus takes the width of the store where the unit is programmable.
#[test]
fn crc_by_bytes_and_words() {
    for (chip, crc, gate, programmable) in [
        (Chip::F446, 0x4002_3000, (0x4002_3830, 1 << 12), false),
        (Chip::F767, 0x4002_3000, (0x4002_3830, 1 << 12), true),
        (Chip::H743, 0x5802_4c00, (0x5802_44e0, 1 << 19), true),
    ] {
        let mut p = Program::new(chip);
        p.set(gate.0, gate.1);
        p.write_register(crc, 0x3132_3334);
        let by_word = p.read_register(crc);
        p.write_register(crc + 8, 1);
        for byte in *b"1234" {
            p.chip.write_register(crc, 1, u32::from(byte), p.now, &mut p.effects);
        }
        assert_eq!(p.read_register(crc) == by_word, programmable, "{chip:?}");
    }
}

/// A warning of the window watchdog reaches its line; a random word arrives where there is a generator.
#[test]
fn window_watchdog_and_random_words() {
    let mut p = Program::new(Chip::F767);
    p.set(0x4002_3840, 1 << 11);
    p.write_register(0x4000_2c04, 0x7f | 1 << 9);
    p.write_register(0x4000_2c00, 0xc2);
    p.step(2 * 4096 + 10);
    assert_eq!((p.chip.irq_levels()[0] & 1, p.effects.chip_reset), (1, None));
    p.step(4096);
    assert_eq!(p.effects.chip_reset, Some(ResetCause::Wwdg));
    for (chip, rng, gate) in [
        (Chip::L053, 0x4002_5000, (0x4002_1030, 1 << 20)),
        (Chip::F407, 0x5006_0800, (0x4002_3834, 1 << 6)),
        (Chip::H743, 0x4802_1800, (0x5802_44dc, 1 << 6)),
    ] {
        let mut p = Program::new(chip);
        p.set(gate.0, gate.1);
        p.write_register(rng, 4);
        p.wait(rng + 4, 1, 1);
        assert_ne!(p.read_register(rng + 8), 0, "{chip:?}");
    }
}
