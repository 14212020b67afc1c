//! Timers and pins through the chip's address map: outputs, wires, captures.

use rtoslab_periph::NEVER;
use rtoslab_periph::stm32::{Chip, Effects, Options, Pin, ResetCause, Stm32, Wire};

/// A timer whose channel 1 reaches a pin, and the writes that make the pin its output or its input.
struct Board {
    chip: Chip,
    pin: Pin,
    timer: u32,
    line: u8,
    /// Enable bits, then the modes of the pin.
    output: &'static [(u32, u32)],
    input: &'static [(u32, u32)],
}

const PA6: Pin = Pin { port: 0, pin: 6 };
const PA0: Pin = Pin { port: 0, pin: 0 };
/// TIM3 and TIM2.
const TIM3: u32 = 0x4000_0400;
const TIM2: u32 = 0x4000_0000;

/// MODER and AFR of PA6 for alternate function 2, at the reset of the other pins.
const F4_PA6: &[(u32, u32)] = &[(0x4002_3830, 1), (0x4002_3840, 3), (0x4002_0000, 0xa800_2000), (0x4002_0020, 2 << 24)];

fn boards() -> Vec<Board> {
    let f4 = |chip| Board { chip, pin: PA6, timer: TIM3, line: 29, output: F4_PA6, input: F4_PA6 };
    let h7 = &[(0x5802_44e0, 1), (0x5802_44e8, 3), (0x5802_0000, 0xabff_efff), (0x5802_0020, 2 << 24)];
    // The L0 has alternate function 2 for TIM2 at PA0.
    let l0 = &[(0x4002_102c, 1), (0x4002_1038, 3), (0x5000_0000, 0xebff_fcfe), (0x5000_0020, 2)];
    vec![
        Board { chip: Chip::L053, pin: PA0, timer: TIM2, line: 15, output: l0, input: l0 },
        Board { chip: Chip::L073, pin: PA0, timer: TIM2, line: 15, output: l0, input: l0 },
        Board {
            chip: Chip::F103,
            pin: PA6,
            timer: TIM3,
            line: 29,
            output: &[(0x4002_1018, 5), (0x4002_101c, 3), (0x4001_0800, 0x4b44_4444)],
            input: &[(0x4002_1018, 5), (0x4002_101c, 3)],
        },
        f4(Chip::F407),
        f4(Chip::F411),
        f4(Chip::F446),
        f4(Chip::F767),
        Board { chip: Chip::H743, pin: PA6, timer: TIM3, line: 29, output: h7, input: h7 },
    ]
}

/// A chip and the effects of all accesses so far.
struct Bench {
    stm32: Stm32,
    effects: Effects,
}

impl Bench {
    fn new(chip: Chip, wires: Vec<Wire>) -> Bench {
        Bench { stm32: Stm32::new(chip, &Options { wires, ..Options::default() }), effects: Effects::default() }
    }

    fn write_register(&mut self, address: u32, value: u32, now: u64) {
        self.stm32.write_register(address, 4, value, now, &mut self.effects);
        assert_eq!((self.effects.unmodelled, self.effects.unclocked), (None, None), "{address:#x}");
    }

    fn writes(&mut self, writes: &[(u32, u32)]) {
        writes.iter().for_each(|&(address, value)| self.write_register(address, value, 0));
    }

    fn read_register(&mut self, address: u32, now: u64) -> u32 {
        self.stm32.read_register(address, 4, now, &mut self.effects)
    }

    fn run(&mut self, end: u64) {
        while self.stm32.next_advance_cycle() <= end {
            self.stm32.process_events_until(self.stm32.next_advance_cycle(), &mut self.effects);
        }
    }

    /// (cycle, level) of a pin's edges since the last call.
    fn edges(&mut self, pin: Pin) -> Vec<(u64, bool)> {
        let changes = std::mem::take(&mut self.effects.pins);
        let own = changes.into_iter().filter(|change| change.port == pin.port && change.changed >> pin.pin & 1 != 0);
        own.map(|change| (change.cycle, change.levels >> pin.pin & 1 != 0)).collect()
    }
}

/// A period of 10 clocks of the timer, high for 3, from cycle 1 on.
fn start_pwm(bench: &mut Bench, timer: u32) {
    bench.writes(&[(timer + 0x2c, 9), (timer + 0x34, 3), (timer + 0x18, 0x60), (timer + 0x20, 1), (timer, 1)]);
}

const PERIODS: [(u64, bool); 6] = [(0, true), (4, false), (11, true), (14, false), (21, true), (24, false)];

#[test]
fn pwm_at_a_pin_of_every_chip() {
    for board in boards() {
        let mut bench = Bench::new(board.chip, Vec::new());
        bench.writes(board.output);
        start_pwm(&mut bench, board.timer);
        bench.run(24);
        assert_eq!(bench.edges(board.pin), PERIODS, "{:?}", board.chip);
    }
}

#[test]
fn an_enabled_output_goes_to_its_pin_when_the_pin_takes_it() {
    for board in boards() {
        let mut bench = Bench::new(board.chip, Vec::new());
        let (modes, enables) = (&board.output[2..], &board.output[..2]);
        bench.writes(enables);
        start_pwm(&mut bench, board.timer);
        assert_eq!((bench.stm32.next_advance_cycle(), bench.edges(board.pin)), (NEVER, vec![]), "{:?}", board.chip);
        for &(address, value) in modes {
            bench.write_register(address, value, 32);
        }
        bench.run(41);
        assert_eq!(bench.edges(board.pin), [(32, true), (34, false), (41, true)], "{:?}", board.chip);
        // It is no edge of the timer's when the pin becomes an input, but one of the pin.
        let moder = modes[0].0;
        bench.write_register(moder, if board.chip == Chip::F103 { 0x4444_4444 } else { 0 }, 42);
        assert_eq!(
            (bench.edges(board.pin), bench.stm32.next_advance_cycle()),
            (vec![(42, false)], NEVER),
            "{:?}",
            board.chip
        );
    }
}

#[test]
fn a_reset_of_timer_or_chip_releases_the_pin() {
    let mut bench = Bench::new(Chip::F446, Vec::new());
    bench.writes(F4_PA6);
    start_pwm(&mut bench, TIM3);
    bench.write_register(0x4002_3820, 2, 2);
    assert_eq!(bench.edges(PA6), [(0, true), (2, false)]);
    bench.write_register(0x4002_3820, 0, 2);
    start_pwm(&mut bench, TIM3);
    bench.edges(PA6);
    bench.stm32.reset_non_backup_blocks(ResetCause::Software, 3, &mut bench.effects);
    assert_eq!((bench.edges(PA6), bench.stm32.next_advance_cycle()), (vec![(3, false)], NEVER));
}

#[test]
fn a_load_sees_the_level_of_its_own_cycle() {
    let mut bench = Bench::new(Chip::F446, Vec::new());
    bench.writes(F4_PA6);
    start_pwm(&mut bench, TIM3);
    // No event has been served in between.
    for (now, level) in [(3, 1), (4, 0), (10, 0), (12, 1), (25, 0)] {
        assert_eq!(bench.read_register(0x4002_0010, now) >> 6 & 1, level, "cycle {now}");
    }
    assert_eq!(bench.edges(PA6), PERIODS);
}

#[test]
fn open_drain_output_only_pulls_down() {
    let mut bench = Bench::new(Chip::F446, Vec::new());
    bench.writes(F4_PA6);
    bench.writes(&[(0x4002_0004, 1 << 6), (0x4002_000c, 0x6400_1000)]);
    start_pwm(&mut bench, TIM3);
    bench.run(12);
    assert_eq!(bench.edges(PA6), [(0, true), (4, false), (11, true)]);
    bench.write_register(0x4002_000c, 0x6400_0000, 12);
    bench.run(31);
    assert_eq!(bench.edges(PA6), [(12, false)]);
}

#[test]
fn the_f1_moves_a_timer_by_afio() {
    let mut bench = Bench::new(Chip::F103, Vec::new());
    let (pb4, pc6) = (Pin { port: 1, pin: 4 }, Pin { port: 2, pin: 6 });
    bench.writes(&[(0x4002_1018, 0x1d), (0x4002_101c, 2), (0x4001_0800, 0x4b44_4444), (0x4001_0c00, 0x444b_4444)]);
    bench.writes(&[(0x4001_1000, 0x4b44_4444)]);
    start_pwm(&mut bench, TIM3);
    bench.effects.pins.clear();
    for (remap, pin) in [(2, pb4), (3, pc6), (0, PA6)] {
        bench.write_register(0x4001_0004, remap << 10, 2);
        assert_eq!(bench.edges(pin), [(2, true)], "{remap}");
    }
}

#[test]
fn advanced_timer_with_complementary_outputs_and_dead_time() {
    let mut bench = Bench::new(Chip::F407, Vec::new());
    let (pa8, pb13, timer) = (Pin { port: 0, pin: 8 }, Pin { port: 1, pin: 13 }, 0x4001_0000);
    bench.writes(&[(0x4002_3830, 3), (0x4002_3844, 1), (0x4002_0000, 0xa802_0000), (0x4002_0024, 1)]);
    bench.writes(&[(0x4002_0400, 0x0800_0280), (0x4002_0424, 1 << 20)]);
    bench.writes(&[(timer + 0x2c, 9), (timer + 0x34, 5), (timer + 0x18, 0x60), (timer + 0x20, 5)]);
    bench.writes(&[(timer + 0x44, 0x8001), (timer, 1)]);
    bench.run(17);
    let edges = bench.effects.pins.clone();
    assert_eq!(bench.edges(pa8), [(0, true), (6, false), (12, true), (16, false)]);
    bench.effects.pins = edges;
    assert_eq!(bench.edges(pb13), [(7, true), (11, false), (17, true)]);
}

#[test]
fn pwm_measured_by_another_timer_over_a_wire() {
    // TIM3 on PA6, over a wire to PA5 of TIM2: PWM input mode.
    let mut bench = Bench::new(Chip::F446, vec![Wire { from: PA6, to: Pin { port: 0, pin: 5 } }]);
    bench.writes(F4_PA6);
    bench.writes(&[(0x4002_0000, 0xa800_2800), (0x4002_0020, 2 << 24 | 1 << 20)]);
    bench.writes(&[(TIM2 + 0x18, 0x201), (TIM2 + 0x20, 0x31), (TIM2 + 0x08, 0x54), (TIM2 + 0x0c, 2), (TIM2, 1)]);
    start_pwm(&mut bench, TIM3);
    bench.run(20);
    assert_eq!(bench.stm32.irq_levels()[0] >> 28 & 1, 1, "the first edge captured");
    bench.run(26);
    assert_eq!((bench.read_register(TIM2 + 0x34, 26), bench.read_register(TIM2 + 0x38, 26)), (10, 3));
    assert_eq!(bench.read_register(TIM2 + 0x24, 27), 6);
    assert_eq!(bench.stm32.irq_levels()[0] >> 28 & 1, 0, "read captures ask for nothing");
}

#[test]
fn driven_pins_are_captured_on_every_chip() {
    for board in boards() {
        let mut bench = Bench::new(board.chip, Vec::new());
        bench.writes(board.input);
        let timer = board.timer;
        bench.writes(&[(timer + 0x18, 1), (timer + 0x20, 1), (timer + 0x0c, 2), (timer, 1)]);
        for (cycle, level) in [(100, true), (120, false)] {
            bench.stm32.drive_pin(board.pin.port, board.pin.pin, level, cycle, &mut bench.effects);
        }
        let word = usize::from(board.line / 32);
        assert_eq!(bench.stm32.irq_levels()[word] >> (board.line % 32) & 1, 1, "{:?}", board.chip);
        assert_eq!(bench.read_register(timer + 0x34, 121), 99, "{:?}", board.chip);
        assert_eq!(bench.stm32.irq_levels()[word] >> (board.line % 32) & 1, 0, "{:?}", board.chip);
    }
}

#[test]
fn a_level_from_before_is_no_edge() {
    let mut bench = Bench::new(Chip::F446, Vec::new());
    bench.writes(F4_PA6);
    bench.stm32.drive_pin(0, 6, true, 5, &mut bench.effects);
    bench.writes(&[(TIM3 + 0x18, 1), (TIM3 + 0x20, 0xb), (TIM3, 1)]);
    assert_eq!(bench.read_register(TIM3 + 0x10, 10), 0);
    bench.stm32.drive_pin(0, 6, false, 20, &mut bench.effects);
    assert_eq!((bench.read_register(TIM3 + 0x10, 21), bench.read_register(TIM3 + 0x34, 21)), (2, 19));
}

/// A timer that counts its own output at both edges would run for ever in one cycle.
#[test]
fn a_timer_wired_to_itself_ends() {
    let mut bench = Bench::new(Chip::F446, vec![Wire { from: Pin { port: 0, pin: 7 }, to: PA6 }]);
    bench.writes(F4_PA6);
    bench.writes(&[(0x4002_0000, 0xa800_a000), (0x4002_0020, 0x22 << 24)]);
    bench.writes(&[(TIM3 + 0x2c, 1), (TIM3 + 0x38, 1), (TIM3 + 0x18, 0x6000), (TIM3 + 0x08, 0x47), (TIM3, 1)]);
    bench.write_register(TIM3 + 0x20, 0x10, 5);
    assert!(bench.effects.pins.len() < 200);
}
