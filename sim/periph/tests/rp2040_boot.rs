//! The whole chip as firmware drives it: the SDK's boot sequence, aliases, resets, pins and DMA.

use rtoslab_periph::rp2040::bootrom::FlashCommand;
use rtoslab_periph::rp2040::{DmaBus, ResetCause, Rp2040Peripherals};
use rtoslab_periph::{Access, ClockTree, Effects, NEVER};

const RESETS: u32 = 0x4000_c000;
const CLOCKS: u32 = 0x4000_8000;
const PSM: u32 = 0x4001_0000;
const IO_BANK0: u32 = 0x4001_4000;
const IO_QSPI: u32 = 0x4001_8000;
const PADS: u32 = 0x4001_c000;
const XOSC: u32 = 0x4002_4000;
const PLL_SYS: u32 = 0x4002_8000;
const PLL_USB: u32 = 0x4002_c000;
const UART0: u32 = 0x4003_4000;
const TIMER: u32 = 0x4005_4000;
const WATCHDOG: u32 = 0x4005_8000;
const DMA: u32 = 0x5000_0000;
const SSI: u32 = 0x1800_0000;
const XOR: u32 = 1;
const SET: u32 = 2;
const CLR: u32 = 3;

/// A machine without cores: it owns the clock tree copy and advances whatever is due.
struct Rig {
    chip: Rp2040Peripherals,
    tree: ClockTree,
    now: u64,
    effects: Effects,
    sent: Vec<u8>,
}

impl Rig {
    fn new() -> Self {
        let chip = Rp2040Peripherals::new(12_000_000, 2 << 20);
        let tree = chip.clock_tree().clone();
        Self { chip, tree, now: 0, effects: Effects::default(), sent: Vec::new() }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Rp2040Peripherals, &mut Access) -> T) -> T {
        let mut access = Access { now_cycles: self.now, core: 0, clocks: &self.tree, effects: &mut self.effects };
        let result = act(&mut self.chip, &mut access);
        if std::mem::take(&mut self.effects.clocks_changed) {
            self.tree = self.chip.clock_tree().clone();
        }
        if std::mem::take(&mut self.effects.pins_changed) {
            self.chip.update_pins(self.now);
        }
        self.sent.extend(self.effects.uart_tx.drain(..).map(|(_, byte)| byte));
        result
    }

    fn read_register(&mut self, address: u32) -> u32 {
        self.with(|chip, access| chip.read_register(address, access))
    }

    fn write_register(&mut self, address: u32, value: u32) {
        self.with(|chip, access| chip.write_register(address, value, 0, access));
    }

    fn alias(&mut self, address: u32, value: u32, alias: u32) {
        self.with(|chip, access| chip.write_register(address | alias << 12, value, alias, access));
    }

    /// Runs to `cycle`, serving everything that falls due on the way.
    fn run_to(&mut self, cycle: u64) {
        while self.chip.next_advance_cycle() <= cycle {
            self.now = self.now.max(self.chip.next_advance_cycle());
            self.with(|chip, access| chip.process_due_events(access));
        }
        self.now = cycle;
    }

    /// Polls a register as firmware does, ten cycles per turn.
    fn wait(&mut self, address: u32, mask: u32) {
        for _ in 0..1_000_000 {
            if self.read_register(address) & mask == mask {
                return;
            }
            self.run_to(self.now + 10);
        }
        panic!("{address:#x} never showed {mask:#x}");
    }

    /// The SDK's order: early resets, oscillator, PLLs, clock switches, tick, all blocks out of reset.
    fn sdk_boot(&mut self) {
        self.alias(RESETS, !0x0000_3240 & 0x01ff_ffff, SET);
        self.alias(RESETS, 0x01ff_ffff & !0x01c3_8001, CLR);
        self.wait(RESETS + 8, 0x01ff_ffff & !0x01c3_8001 & !0x0100_0000);
        self.write_register(CLOCKS + 0x78, 0);
        self.write_register(XOSC, 0xaa0);
        self.write_register(XOSC + 0x0c, 47);
        self.alias(XOSC, 0xfab << 12, SET);
        self.wait(XOSC + 4, 1 << 31);
        for (pll, fbdiv, prim) in [(PLL_SYS, 125, 0x62000), (PLL_USB, 100, 0x55000)] {
            self.write_register(pll, 1);
            self.write_register(pll + 8, fbdiv);
            self.alias(pll + 4, 0x21, CLR);
            self.wait(pll, 1 << 31);
            self.write_register(pll + 0xc, prim);
            self.alias(pll + 4, 8, CLR);
        }
        self.write_register(CLOCKS + 0x30, 2);
        self.wait(CLOCKS + 0x38, 4);
        self.alias(CLOCKS + 0x3c, 1, SET);
        self.wait(CLOCKS + 0x44, 2);
        for offset in [0x54, 0x60, 0x48] {
            self.write_register(CLOCKS + offset, 0x800);
        }
        self.write_register(CLOCKS + 0x70, 0x40000);
        self.write_register(CLOCKS + 0x6c, 0x800);
        self.write_register(WATCHDOG + 0x2c, 0x200 | 12);
        self.alias(RESETS, 0x01ff_ffff, CLR);
        self.wait(RESETS + 8, 0x01ff_ffff);
    }
}

#[test]
fn sdk_boot_reaches_125_mhz_and_a_running_timer() {
    let mut rig = Rig::new();
    assert_eq!(rig.tree.sys_hz, 6_500_000);
    rig.sdk_boot();
    assert_eq!((rig.tree.sys_hz, rig.tree.peri_hz, rig.tree.rtc_hz), (125_000_000, 125_000_000, 46_875));
    let start = rig.read_register(TIMER + 0x28);
    rig.run_to(rig.now + 125_000);
    assert_eq!(rig.read_register(TIMER + 0x28) - start, 1000);
}

#[test]
fn held_blocks_read_zero_and_ignore_writes() {
    let mut rig = Rig::new();
    assert_eq!(rig.read_register(UART0 + 0x18), 0);
    rig.write_register(UART0 + 0x24, 5);
    rig.sdk_boot();
    assert_eq!((rig.read_register(UART0 + 0x18), rig.read_register(UART0 + 0x24)), (0x90, 0));
    rig.write_register(UART0 + 0x24, 5);
    assert_eq!(rig.read_register(UART0 + 0x24), 5);
    rig.alias(RESETS, 1 << 22, SET);
    assert_eq!(rig.read_register(UART0 + 0x24), 0);
    rig.alias(RESETS, 1 << 22, CLR);
    assert_eq!(rig.read_register(UART0 + 0x24), 0);
}

#[test]
fn aliases_change_the_named_bits_only() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    rig.write_register(WATCHDOG + 0x0c, 0xf0);
    rig.alias(WATCHDOG + 0x0c, 0x0f, SET);
    rig.alias(WATCHDOG + 0x0c, 0x80, CLR);
    rig.alias(WATCHDOG + 0x0c, 0x101, XOR);
    assert_eq!(rig.read_register(WATCHDOG + 0x0c), 0x17e);
    assert_eq!(rig.read_register(WATCHDOG + 0x200c), 0x17e);
    rig.write_register(TIMER + 0x10, rig.now as u32);
    rig.read_register(TIMER + 0x10);
}

#[test]
fn write_one_to_clear_works_through_every_alias() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    for alias in [0, XOR, SET, CLR] {
        let time = rig.read_register(TIMER + 0x28);
        rig.write_register(TIMER + 0x10, time + 2);
        rig.write_register(TIMER + 0x14, time + 3);
        rig.write_register(TIMER + 0x38, 0b01);
        rig.run_to(rig.now + 1000);
        assert_eq!((rig.read_register(TIMER + 0x34), rig.chip.irq_levels(0)), (0b11, 0b01));
        rig.alias(TIMER + 0x34, 0b01, alias);
        assert_eq!((rig.read_register(TIMER + 0x34), rig.chip.irq_levels(1)), (0b10, 0), "alias {alias}");
        rig.write_register(TIMER + 0x34, 0b10);
    }
}

#[test]
fn due_time_is_exact_for_alarm_and_uart() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    assert_eq!(rig.chip.next_advance_cycle(), NEVER);
    let time = rig.read_register(TIMER + 0x28);
    rig.write_register(TIMER + 0x10, time + 100);
    let due = rig.chip.next_advance_cycle();
    rig.run_to(due - 1);
    assert_eq!((rig.read_register(TIMER + 0x28), rig.read_register(TIMER + 0x34)), (time + 99, 0));
    rig.run_to(due);
    assert_eq!((rig.read_register(TIMER + 0x28), rig.read_register(TIMER + 0x34)), (time + 100, 1));
}

fn uart_at_115200(rig: &mut Rig) {
    for (offset, value) in [(0x24, 67), (0x28, 52), (0x2c, 0x70), (0x30, 0x301)] {
        rig.write_register(UART0 + offset, value);
    }
}

#[test]
fn uart_sends_and_receives_through_the_decoder() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    uart_at_115200(&mut rig);
    let start = rig.now;
    for byte in *b"ok" {
        rig.write_register(UART0, u32::from(byte) * 0x0101_0101);
    }
    rig.run_to(start + 10 * 1085);
    assert_eq!(rig.sent, b"o");
    rig.chip.send_to_uart(0, b"!");
    rig.run_to(start + 21 * 1085);
    assert_eq!(rig.sent, b"ok");
    assert_eq!(rig.read_register(UART0), u32::from(b'!'));
}

#[test]
fn pins_follow_sio_through_multiplexer_and_pads() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    rig.write_register(IO_BANK0 + 8 * 25 + 4, 5);
    let mut effects = Effects::default();
    rig.chip.sio.write_register(0x024, 1 << 25, 0, 0, &mut effects);
    rig.chip.sio.write_register(0x014, 1 << 25, 0, 0, &mut effects);
    assert!(effects.pins_changed);
    let pins = rig.chip.update_pins(rig.now);
    assert_eq!((pins.levels, pins.driven), (1 << 25, 1 << 25));
    assert_eq!(rig.chip.sio.read_register(0x004, 0, 0, &mut effects), 1 << 25);
    // An input driven from outside raises an edge interrupt for core 1 only.
    rig.write_register(IO_BANK0 + 0x130, 8 << 8);
    rig.chip.drive_pins(1 << 2, 1 << 2);
    rig.chip.update_pins(rig.now);
    assert_eq!((rig.chip.irq_levels(0), rig.chip.irq_levels(1)), (0, 1 << 13));
    rig.alias(PADS + 4 + 4 * 2, 1 << 6, CLR);
    assert_eq!(rig.chip.sio.gpio.input_levels(), 1 << 25);
}

#[test]
fn core1_is_reset_through_the_power_on_state_machine() {
    let mut rig = Rig::new();
    rig.alias(PSM + 4, 1 << 16, SET);
    assert_eq!(rig.effects.core1_reset.take(), Some(true));
    assert_eq!(rig.read_register(PSM + 4) >> 16 & 1, 1);
    rig.alias(PSM + 4, 1 << 16, CLR);
    assert_eq!(rig.effects.core1_reset, Some(false));
}

#[test]
fn watchdog_reset_keeps_scratch_and_restarts_the_clocks() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    rig.write_register(WATCHDOG + 0x1c, 0xb007_c0d3);
    rig.write_register(PSM + 8, 0x1_fffc);
    rig.write_register(WATCHDOG, 1 << 31);
    assert!(rig.effects.chip_reset);
    let now = rig.now;
    assert_eq!(rig.chip.reset_chip_peripherals(ResetCause::Watchdog, now), 0b11);
    let tree = rig.chip.clock_tree();
    assert_eq!((tree.sys_hz, tree.tick_hz_num), (6_500_000, 0));
    // The crystal was not selected for restart.
    assert_eq!(rig.read_register(XOSC + 4) >> 31, 1);
    assert_eq!((rig.read_register(WATCHDOG + 8), rig.read_register(WATCHDOG + 0x1c)), (2, 0xb007_c0d3));
    assert_eq!((rig.read_register(RESETS), rig.read_register(TIMER + 0x28)), (0x01ff_ffff, 0));
    rig.chip.reset_chip_peripherals(ResetCause::RunPin, now);
    assert_eq!((rig.read_register(WATCHDOG + 0x1c), rig.read_register(XOSC + 4) >> 31), (0, 0));
}

#[test]
fn watchdog_reset_may_spare_core_0() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    rig.write_register(PSM + 8, 1 << 16);
    rig.write_register(RESETS + 4, 1 << 22);
    assert_eq!(rig.chip.reset_chip_peripherals(ResetCause::Watchdog, 0), 0b10);
    assert_eq!((rig.chip.clock_tree().sys_hz, rig.read_register(RESETS)), (125_000_000, 1 << 22));
}

#[test]
fn rom_flash_functions_program_the_chip_and_restore_xip() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    let mut effects = Effects::default();
    for command in [
        FlashCommand::Connect,
        FlashCommand::ExitXip,
        FlashCommand::Program { offset: 0x100, data: vec![1, 2, 3] },
        FlashCommand::EnterXip,
        FlashCommand::FlushCache,
    ] {
        rig.chip.execute_rom_flash_command(&command, 0, &mut effects);
    }
    assert!(effects.xip_flush && effects.xip_timing_changed);
    assert_eq!(rig.chip.ssi.flash.flash_content()[0x100..0x104], [1, 2, 3, 0xff]);
    assert_eq!(rig.chip.ssi.xip_frame_timing().sck_cycles, 64);
}

#[test]
fn forced_chip_select_keeps_a_flash_command_open() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    rig.write_register(SSI + 8, 0);
    rig.write_register(SSI, 7 << 16);
    rig.write_register(SSI + 8, 1);
    rig.write_register(IO_QSPI + 0x0c, 2 << 8);
    let mut id = Vec::new();
    for byte in [0x9f, 0, 0, 0] {
        rig.write_register(SSI + 0x60, byte);
        assert_eq!(rig.read_register(SSI + 0x28) & 8, 8);
        id.push(rig.read_register(SSI + 0x60));
    }
    assert_eq!(id[1..], [0xef, 0x40, 0x15]);
}

struct Ram(Vec<u8>);

impl DmaBus for Ram {
    fn read_memory(&mut self, address: u32, _bytes: u32) -> u32 {
        u32::from(self.0[address as usize & 0xff])
    }
    fn write_memory(&mut self, address: u32, _bytes: u32, value: u32) {
        self.0[address as usize & 0xff] = value as u8;
    }
}

#[test]
fn dma_feeds_the_uart_at_its_pace() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    uart_at_115200(&mut rig);
    rig.write_register(UART0 + 0x48, 2);
    let text: Vec<u8> = (0..40).collect();
    let mut ram = Ram(text.clone());
    ram.0.resize(256, 0);
    rig.write_register(DMA + 0x404, 1);
    for (offset, value) in [(0, 0x2000_0000), (4, UART0), (8, 40), (12, 1 | 1 << 4 | 20 << 15)] {
        rig.write_register(DMA + offset, value);
    }
    let start = rig.now;
    while rig.chip.next_dma_cycle() != NEVER || rig.chip.next_advance_cycle() != NEVER {
        let next = rig.chip.next_dma_cycle().min(rig.chip.next_advance_cycle());
        rig.run_to(next.max(rig.now));
        rig.with(|chip, access| chip.execute_due_dma_transfer(access, &mut ram).is_some());
    }
    assert_eq!(rig.sent, text);
    // Forty frames of ten bits, the first starting with the first transfer.
    assert_eq!(rig.now, start + 1 + 400 * 1085);
    assert_eq!(rig.chip.irq_levels(0), 1 << 11);
}

#[test]
fn unknown_addresses_and_registers() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    assert_eq!(rig.chip.name_of_peripheral_at_address(0x4006_8000), None);
    assert_eq!(rig.chip.name_of_peripheral_at_address(0x4003_6030), Some("UART0"));
    rig.read_register(UART0 + 0x80);
    assert_eq!(rig.effects.unmodelled.take(), Some((0x80, false)));
    rig.write_register(0x5011_0040, 1);
    let limit = rig.effects.limit.take().expect("USB is storage");
    assert!(limit.about.starts_with("USB and the XIP"), "{limit:?}");
}

#[test]
fn dma_reaches_registers_through_their_aliases_and_lanes() {
    let mut rig = Rig::new();
    rig.sdk_boot();
    let mut ram = Ram((0..=255).collect());
    rig.write_register(WATCHDOG + 0x0c, 0xff);
    // One byte, 0x21, to the CLR alias of SCRATCH0: it arrives on all four lanes.
    for (offset, value) in [(0, 0x2000_0021), (4, WATCHDOG + 0x300c), (8, 1), (12, 1 | 0x3f << 15)] {
        rig.write_register(DMA + offset, value);
    }
    rig.now += 1;
    let done = rig.with(|chip, access| chip.execute_due_dma_transfer(access, &mut ram));
    assert_eq!(done.map(|transfer| transfer.bytes), Some(1));
    assert_eq!(rig.read_register(WATCHDOG + 0x0c), 0xff & !0x21);
    // Byte 1 of a register to memory.
    rig.write_register(WATCHDOG + 0x10, 0x4433_2211);
    for (offset, value) in [(0x40, WATCHDOG + 0x11), (0x44, 0x2000_0005), (0x48, 1), (0x4c, 1 | 1 << 11 | 0x3f << 15)] {
        rig.write_register(DMA + offset, value);
    }
    rig.now += 2;
    rig.with(|chip, access| chip.execute_due_dma_transfer(access, &mut ram));
    assert_eq!(ram.0[5], 0x22);
}
