//! Pins, EXTI lines, timers and interrupt lines through the chip's address map.

use rtoslab_periph::NEVER;
use rtoslab_periph::stm32::{Chip, Effects, Options, Pin, PinChange, Stm32, Wire};

/// PA0 of a chip and what belongs to it: GPIO base and enable bit, EXTI and SYSCFG bases, the enable of SYSCFG, and
/// the NVIC lines of EXTI1 and TIM6 (TIM2 where there is none).
struct Board {
    chip: Chip,
    gpio: u32,
    gpio_enable: (u32, u32),
    exti: [u32; 4],
    exticr: u32,
    syscfg_enable: Option<(u32, u32)>,
    exti1: u8,
    timer: u32,
    timer_enable: (u32, u32),
    timer_line: u8,
}

const F4_EXTI: [u32; 4] = [0x4001_3c00, 0x4001_3c08, 0x4001_3c0c, 0x4001_3c14];

fn boards() -> Vec<Board> {
    let f4 = |chip| Board {
        chip,
        gpio: 0x4002_0000,
        gpio_enable: (0x4002_3830, 0),
        exti: F4_EXTI,
        exticr: 0x4001_3808,
        syscfg_enable: Some((0x4002_3844, 14)),
        exti1: 7,
        timer: 0x4000_1000,
        timer_enable: (0x4002_3840, 4),
        timer_line: 54,
    };
    let l0 = |chip| Board {
        chip,
        gpio: 0x5000_0000,
        gpio_enable: (0x4002_102c, 0),
        exti: [0x4001_0400, 0x4001_0408, 0x4001_040c, 0x4001_0414],
        exticr: 0x4001_0008,
        syscfg_enable: Some((0x4002_1034, 0)),
        exti1: 5,
        timer: 0x4000_1000,
        timer_enable: (0x4002_1038, 4),
        timer_line: 17,
    };
    vec![
        l0(Chip::L053),
        l0(Chip::L073),
        Board {
            chip: Chip::F103,
            gpio: 0x4001_0800,
            gpio_enable: (0x4002_1018, 2),
            exti: [0x4001_0400, 0x4001_0408, 0x4001_040c, 0x4001_0414],
            exticr: 0x4001_0008,
            syscfg_enable: Some((0x4002_1018, 0)),
            exti1: 7,
            timer: 0x4000_0000,
            timer_enable: (0x4002_101c, 0),
            timer_line: 28,
        },
        f4(Chip::F407),
        Board { timer: 0x4000_0000, timer_enable: (0x4002_3840, 0), timer_line: 28, ..f4(Chip::F411) },
        f4(Chip::F446),
        f4(Chip::F767),
        Board {
            chip: Chip::H743,
            gpio: 0x5802_0000,
            gpio_enable: (0x5802_44e0, 0),
            exti: [0x5800_0080, 0x5800_0000, 0x5800_0004, 0x5800_0088],
            exticr: 0x5800_0408,
            syscfg_enable: Some((0x5802_44f4, 1)),
            exti1: 7,
            timer: 0x4000_1000,
            timer_enable: (0x5802_44e8, 4),
            timer_line: 54,
        },
    ]
}

struct Program {
    chip: Stm32,
    effects: Effects,
    now: u64,
}

impl Program {
    fn new(board: &Board) -> Self {
        // PA0 is wired to PA1.
        let wires = vec![Wire { from: Pin { port: 0, pin: 0 }, to: Pin { port: 0, pin: 1 } }];
        let chip = Stm32::new(board.chip, &Options { wires, ..Options::default() });
        Self { chip, effects: Effects::default(), now: 0 }
    }

    fn read_register(&mut self, address: u32) -> u32 {
        self.chip.read_register(address, 4, self.now, &mut self.effects)
    }

    fn write_register(&mut self, address: u32, value: u32) {
        self.chip.write_register(address, 4, value, self.now, &mut self.effects);
        assert_eq!(self.effects.unclocked, None);
    }

    fn enable(&mut self, (address, bit): (u32, u32)) {
        let value = self.read_register(address);
        self.write_register(address, value | 1 << bit);
    }

    fn line(&self, line: u8) -> bool {
        self.chip.irq_levels()[usize::from(line / 32)] >> (line % 32) & 1 != 0
    }

    /// Makes PA0 an output and PA1 an input.
    fn configure_pins(&mut self, board: &Board) {
        self.enable(board.gpio_enable);
        if board.chip == Chip::F103 {
            self.write_register(board.gpio, 0x4444_4443);
        } else {
            let moder = self.read_register(board.gpio);
            self.write_register(board.gpio, moder & !0xf | 1);
        }
    }

    fn set_reset(&mut self, board: &Board, value: u32) {
        self.write_register(board.gpio + if board.chip == Chip::F103 { 0x10 } else { 0x18 }, value);
    }
}

/// The interrupt test of a loop-back wire: an edge on PA0 raises the line of EXTI1 in the same cycle, and clearing
/// the pending bit lowers it.
#[test]
fn a_wired_output_interrupts_through_exti() {
    for board in boards() {
        let mut p = Program::new(&board);
        p.configure_pins(&board);
        if let Some(enable) = board.syscfg_enable {
            p.enable(enable);
        }
        let [imr, rtsr, ftsr, pr] = board.exti;
        p.write_register(board.exticr, 0);
        let mask = p.read_register(imr);
        p.write_register(imr, mask | 2);
        p.write_register(rtsr, 2);
        p.effects.pins.clear();
        p.now = 100;
        p.set_reset(&board, 1);
        assert_eq!(
            p.effects.pins,
            [
                PinChange { cycle: 100, port: 0, changed: 1, levels: p.chip.pin_levels(0) & !2 },
                PinChange { cycle: 100, port: 0, changed: 2, levels: p.chip.pin_levels(0) },
            ],
            "{:?}",
            board.chip
        );
        assert!(p.line(board.exti1), "{:?}", board.chip);
        let idr = p.read_register(board.gpio + if board.chip == Chip::F103 { 8 } else { 0x10 });
        assert_eq!(idr & 3, 3);
        assert_eq!(p.read_register(pr), 2);
        p.write_register(pr, 2);
        assert!(!p.line(board.exti1));
        // The falling edge counts only when it is asked for.
        p.set_reset(&board, 1 << 16);
        assert!(!p.line(board.exti1));
        p.write_register(ftsr, 2);
        p.set_reset(&board, 1);
        p.write_register(pr, 2);
        p.set_reset(&board, 1 << 16);
        assert!(p.line(board.exti1));
        // Masked, the flag stays and the line goes.
        p.write_register(imr, mask);
        assert!(!p.line(board.exti1));
        assert_eq!(p.read_register(pr), 2);
    }
}

/// An update interrupt of the basic timer on every chip: one kHz from the reset clock.
#[test]
fn timer_interrupts_every_millisecond() {
    for board in boards() {
        let mut p = Program::new(&board);
        p.enable(board.timer_enable);
        let hz = p.chip.clock_frequencies().core_hz;
        p.write_register(board.timer + 0x28, 3);
        let reload = (hz / 4 / 1000) as u32;
        p.write_register(board.timer + 0x2c, reload - 1);
        p.write_register(board.timer + 0x14, 1);
        p.write_register(board.timer + 0x10, 0);
        p.write_register(board.timer + 0x0c, 1);
        assert_eq!(p.chip.next_advance_cycle(), NEVER, "{:?}", board.chip);
        p.now = 10;
        p.write_register(board.timer, 1);
        let period = u64::from(reload) * 4;
        for tick in 1..=3 {
            // CNT_EN follows CEN by one timer clock.
            assert_eq!(p.chip.next_advance_cycle(), 11 + tick * period, "{:?}", board.chip);
            p.now = p.chip.next_advance_cycle();
            assert!(!p.line(board.timer_line));
            p.chip.process_events_until(p.now, &mut p.effects);
            assert!(p.line(board.timer_line), "{:?}", board.chip);
            assert_eq!(p.read_register(board.timer + 0x10) & 1, 1);
            p.write_register(board.timer + 0x10, 0);
            assert!(!p.line(board.timer_line));
        }
        // Without its clock it stands still.
        let before = p.read_register(board.timer + 0x24);
        let (address, bit) = board.timer_enable;
        let value = p.read_register(address);
        p.write_register(address, value & !(1 << bit));
        assert_eq!(p.chip.next_advance_cycle(), NEVER);
        p.now += 12_345;
        p.enable(board.timer_enable);
        assert_eq!(p.read_register(board.timer + 0x24), before);
    }
}

/// Narrow stores: AHB takes them on their lanes, an APB bridge puts them on all.
#[test]
fn narrow_stores_take_the_bus_s_way() {
    let boards = boards();
    let board = boards.iter().find(|board| board.chip == Chip::F446).expect("the F446 is there");
    let mut p = Program::new(board);
    p.configure_pins(board);
    // BSRR's upper half as a half word resets, the lower half sets.
    p.chip.write_register(board.gpio + 0x18, 2, 0x8001, 1, &mut p.effects);
    assert_eq!(p.read_register(board.gpio + 0x14), 0x8001);
    p.chip.write_register(board.gpio + 0x1a, 2, 0x8000, 2, &mut p.effects);
    assert_eq!(p.read_register(board.gpio + 0x14), 0x0001);
    p.chip.write_register(board.gpio + 0x15, 1, 0xab, 3, &mut p.effects);
    assert_eq!(p.read_register(board.gpio + 0x14), 0xab01);
    assert_eq!(p.chip.read_register(board.gpio + 0x15, 1, 4, &mut p.effects), 0xab);
    assert_eq!(p.chip.read_register(board.gpio + 0x14, 2, 4, &mut p.effects), 0xab01);
    p.enable((0x4002_3840, 0));
    p.chip.write_register(0x4000_002c, 2, 0x1234, 5, &mut p.effects);
    assert_eq!(p.read_register(0x4000_002c), 0x1234_1234);
}

/// Pins driven from outside, and a chip reset that keeps what the backup domain holds.
#[test]
fn outside_levels_and_reset() {
    for board in boards() {
        let mut p = Program::new(&board);
        p.configure_pins(&board);
        p.chip.drive_pins(0, 0x8000, 0x8000, 7, &mut p.effects);
        assert_eq!(p.chip.pin_levels(0) >> 15, 1, "{:?}", board.chip);
        p.set_reset(&board, 1);
        assert_eq!(p.chip.pin_levels(0) & 3, 3);
        p.chip.reset_non_backup_blocks(rtoslab_periph::stm32::ResetCause::Software, 50, &mut p.effects);
        assert_eq!(p.chip.pin_levels(0) & 1, 0, "{:?}", board.chip);
        assert_eq!(p.chip.pin_levels(0) >> 15, 1);
        assert_eq!(p.chip.read_register(board.gpio, 4, 60, &mut p.effects), 0, "its clock is off again");
    }
}

/// A resistor on the board is stronger than the chip's pulls. What drives the pin is stronger than the resistor.
#[test]
fn pins_at_rest() {
    let idr = |board: &Board| board.gpio + if board.chip == Chip::F103 { 8 } else { 0x10 };
    for board in boards() {
        let rest = vec![(Pin { port: 0, pin: 0 }, true), (Pin { port: 0, pin: 1 }, false)];
        let chip = Stm32::new(board.chip, &Options { rest, ..Options::default() });
        let mut program = Program { chip, effects: Effects::default(), now: 0 };
        program.enable(board.gpio_enable);
        // Both are inputs, PA0 with the chip's pull-down, PA1 with its pull-up.
        if board.chip == Chip::F103 {
            program.write_register(board.gpio, 0x4444_4488);
            program.write_register(board.gpio + 0x0c, 2);
        } else {
            let moder = program.read_register(board.gpio);
            program.write_register(board.gpio, moder & !0xf);
            program.write_register(board.gpio + 0x0c, 0x6);
        }
        assert_eq!(program.read_register(idr(&board)) & 3, 1, "{:?}", board.chip);
        assert!(program.effects.pins.iter().all(|change| change.changed & 3 == 0), "no edge at power-on");
        program.chip.reset_non_backup_blocks(rtoslab_periph::stm32::ResetCause::Software, 0, &mut program.effects);
        program.enable(board.gpio_enable);
        assert_eq!(program.chip.pin_levels(0) & 3, 1, "a reset of the chip is none of the board");
        program.chip.drive_pin(0, 0, false, 5, &mut program.effects);
        program.chip.drive_pin(0, 1, true, 6, &mut program.effects);
        assert_eq!(program.chip.pin_levels(0) & 3, 2);
        program.chip.drive_pins(0, 2, 0, 7, &mut program.effects);
        assert_eq!(program.chip.pin_levels(0) & 3, 1, "no longer driven, PA0 is at rest");
        // The chip's own output wins.
        program.configure_pins(&board);
        program.set_reset(&board, 1 << 16);
        assert_eq!(program.chip.pin_levels(0) & 3, 0, "{:?}", board.chip);
    }
}

/// The first edge of a pin that was high at rest fires its EXTI line, which knows the level from the start.
#[test]
fn first_edge_from_rest_fires() {
    for board in boards() {
        let rest = vec![(Pin { port: 0, pin: 1 }, true)];
        let chip = Stm32::new(board.chip, &Options { rest, ..Options::default() });
        let mut program = Program { chip, effects: Effects::default(), now: 0 };
        let [imr, _, ftsr, _] = board.exti;
        program.write_register(imr, 2);
        program.write_register(ftsr, 2);
        program.chip.drive_pin(0, 1, false, 5, &mut program.effects);
        assert!(program.line(board.exti1), "{:?}", board.chip);
    }
}
