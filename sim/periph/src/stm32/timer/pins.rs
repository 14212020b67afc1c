//! Which pins the channels of timers reach, by alternate function, on the F1 by AFIO_MAPR.
//!
//! Sources: the alternate function tables of the data sheets (DS8626, DS10314, DS10693, DS11532, DS12110, DS10152,
//! DS10685), RM0008 9.3.7 for the F1. Each pin agrees with the device data that ST publishes, as modm-devices gives
//! them.

use super::outputs::COMPLEMENTARY;
use crate::stm32::chips::Chip;

/// A pin that a channel of a timer can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm32) struct TimerPin {
    pub timer: &'static str,
    /// Number of the output: channels 1 to 4 are 0 to 3, complementary outputs follow.
    pub output: u8,
    pub port: u8,
    pub pin: u8,
    /// Alternate function, on the F1 the value of the timer's field in AFIO_MAPR.
    pub function: u8,
}

/// A row of the table: the pins of one output of a timer.
struct Line {
    chips: u8,
    timer: &'static str,
    output: u8,
    function: u8,
    /// Pins such as `A8`. On the F1 one for each value of the remap field, `-` where there is none.
    pins: &'static str,
}

/// Returns a row of the table: the pins that a timer's output reaches on these chips with this alternate function.
const fn pins_of_timer_output(chips: u8, timer: &'static str, output: u8, function: u8, pins: &'static str) -> Line {
    Line { chips, timer, output, function, pins }
}

/// Returns a set of chips as a mask, with a bit for each chip.
const fn chip_set_mask(chips: &[Chip]) -> u8 {
    let (mut mask, mut n) = (0, 0);
    while n < chips.len() {
        mask |= 1 << chips[n] as u8;
        n += 1;
    }
    mask
}

use Chip::{F103, F407, F411, F446, F767, H743, L053, L073};

const F1: u8 = chip_set_mask(&[F103]);
const L0: u8 = chip_set_mask(&[L053, L073]);
const L7: u8 = chip_set_mask(&[L073]);
/// F4, F7 and H7.
const ALL: u8 = chip_set_mask(&[F407, F411, F446, F767, H743]);
/// All of them but the smallest.
const BIG: u8 = chip_set_mask(&[F407, F446, F767, H743]);
/// Those with port H and I brought out.
const WIDE: u8 = chip_set_mask(&[F407, F767, H743]);
const F4_F7: u8 = chip_set_mask(&[F407, F411, F446, F767]);
const BIG_F4_F7: u8 = chip_set_mask(&[F407, F446, F767]);
const WIDE_F4_F7: u8 = chip_set_mask(&[F407, F767]);
const F46: u8 = chip_set_mask(&[F446]);
const H7: u8 = chip_set_mask(&[H743]);

const CH1: u8 = 0;
const CH2: u8 = 1;
const CH3: u8 = 2;
const CH4: u8 = 3;
const CH1N: u8 = COMPLEMENTARY;
const CH2N: u8 = COMPLEMENTARY + 1;
const CH3N: u8 = COMPLEMENTARY + 2;

static LINES: &[Line] = &[
    pins_of_timer_output(F1, "TIM1", CH1, 0, "A8 A8 - E9"),
    pins_of_timer_output(F1, "TIM1", CH2, 0, "A9 A9 - E11"),
    pins_of_timer_output(F1, "TIM1", CH3, 0, "A10 A10 - E13"),
    pins_of_timer_output(F1, "TIM1", CH4, 0, "A11 A11 - E14"),
    pins_of_timer_output(F1, "TIM1", CH1N, 0, "B13 A7 - E8"),
    pins_of_timer_output(F1, "TIM1", CH2N, 0, "B14 B0 - E10"),
    pins_of_timer_output(F1, "TIM1", CH3N, 0, "B15 B1 - E12"),
    pins_of_timer_output(F1, "TIM2", CH1, 0, "A0 A15 A0 A15"),
    pins_of_timer_output(F1, "TIM2", CH2, 0, "A1 B3 A1 B3"),
    pins_of_timer_output(F1, "TIM2", CH3, 0, "A2 A2 B10 B10"),
    pins_of_timer_output(F1, "TIM2", CH4, 0, "A3 A3 B11 B11"),
    pins_of_timer_output(F1, "TIM3", CH1, 0, "A6 - B4 C6"),
    pins_of_timer_output(F1, "TIM3", CH2, 0, "A7 - B5 C7"),
    pins_of_timer_output(F1, "TIM3", CH3, 0, "B0 - B0 C8"),
    pins_of_timer_output(F1, "TIM3", CH4, 0, "B1 - B1 C9"),
    pins_of_timer_output(F1, "TIM4", CH1, 0, "B6 D12"),
    pins_of_timer_output(F1, "TIM4", CH2, 0, "B7 D13"),
    pins_of_timer_output(F1, "TIM4", CH3, 0, "B8 D14"),
    pins_of_timer_output(F1, "TIM4", CH4, 0, "B9 D15"),
    pins_of_timer_output(ALL, "TIM1", CH1, 1, "A8 E9"),
    pins_of_timer_output(ALL, "TIM1", CH2, 1, "A9 E11"),
    pins_of_timer_output(ALL, "TIM1", CH3, 1, "A10 E13"),
    pins_of_timer_output(ALL, "TIM1", CH4, 1, "A11 E14"),
    pins_of_timer_output(ALL, "TIM1", CH1N, 1, "A7 B13 E8"),
    pins_of_timer_output(ALL, "TIM1", CH2N, 1, "B0 B14 E10"),
    pins_of_timer_output(ALL, "TIM1", CH3N, 1, "B1 B15 E12"),
    pins_of_timer_output(H7, "TIM1", CH1, 1, "K1"),
    pins_of_timer_output(H7, "TIM1", CH2, 1, "J11"),
    pins_of_timer_output(H7, "TIM1", CH3, 1, "J9"),
    pins_of_timer_output(H7, "TIM1", CH1N, 1, "K0"),
    pins_of_timer_output(H7, "TIM1", CH2N, 1, "J10"),
    pins_of_timer_output(H7, "TIM1", CH3N, 1, "J8"),
    pins_of_timer_output(ALL, "TIM2", CH1, 1, "A0 A5 A15"),
    pins_of_timer_output(ALL, "TIM2", CH2, 1, "A1 B3"),
    pins_of_timer_output(ALL, "TIM2", CH3, 1, "A2 B10"),
    pins_of_timer_output(ALL, "TIM2", CH4, 1, "A3 B11"),
    pins_of_timer_output(F46, "TIM2", CH1, 1, "B8"),
    pins_of_timer_output(F46, "TIM2", CH2, 1, "B9"),
    pins_of_timer_output(F46, "TIM2", CH4, 1, "B2"),
    pins_of_timer_output(ALL, "TIM3", CH1, 2, "A6 B4 C6"),
    pins_of_timer_output(ALL, "TIM3", CH2, 2, "A7 B5 C7"),
    pins_of_timer_output(ALL, "TIM3", CH3, 2, "B0 C8"),
    pins_of_timer_output(ALL, "TIM3", CH4, 2, "B1 C9"),
    pins_of_timer_output(ALL, "TIM4", CH1, 2, "B6 D12"),
    pins_of_timer_output(ALL, "TIM4", CH2, 2, "B7 D13"),
    pins_of_timer_output(ALL, "TIM4", CH3, 2, "B8 D14"),
    pins_of_timer_output(ALL, "TIM4", CH4, 2, "B9 D15"),
    pins_of_timer_output(ALL, "TIM5", CH1, 2, "A0"),
    pins_of_timer_output(ALL, "TIM5", CH2, 2, "A1"),
    pins_of_timer_output(ALL, "TIM5", CH3, 2, "A2"),
    pins_of_timer_output(ALL, "TIM5", CH4, 2, "A3"),
    pins_of_timer_output(WIDE, "TIM5", CH1, 2, "H10"),
    pins_of_timer_output(WIDE, "TIM5", CH2, 2, "H11"),
    pins_of_timer_output(WIDE, "TIM5", CH3, 2, "H12"),
    pins_of_timer_output(WIDE, "TIM5", CH4, 2, "I0"),
    pins_of_timer_output(BIG, "TIM8", CH1, 3, "C6"),
    pins_of_timer_output(BIG, "TIM8", CH2, 3, "C7"),
    pins_of_timer_output(BIG, "TIM8", CH3, 3, "C8"),
    pins_of_timer_output(BIG, "TIM8", CH4, 3, "C9"),
    pins_of_timer_output(BIG, "TIM8", CH1N, 3, "A5 A7"),
    pins_of_timer_output(BIG, "TIM8", CH2N, 3, "B0 B14"),
    pins_of_timer_output(BIG, "TIM8", CH3N, 3, "B1 B15"),
    pins_of_timer_output(WIDE, "TIM8", CH1, 3, "I5"),
    pins_of_timer_output(WIDE, "TIM8", CH2, 3, "I6"),
    pins_of_timer_output(WIDE, "TIM8", CH3, 3, "I7"),
    pins_of_timer_output(WIDE, "TIM8", CH4, 3, "I2"),
    pins_of_timer_output(WIDE, "TIM8", CH1N, 3, "H13"),
    pins_of_timer_output(WIDE, "TIM8", CH2N, 3, "H14"),
    pins_of_timer_output(WIDE, "TIM8", CH3N, 3, "H15"),
    pins_of_timer_output(H7, "TIM8", CH1, 3, "J8"),
    pins_of_timer_output(H7, "TIM8", CH2, 3, "J6 J10"),
    pins_of_timer_output(H7, "TIM8", CH3, 3, "K0"),
    pins_of_timer_output(H7, "TIM8", CH1N, 3, "J9"),
    pins_of_timer_output(H7, "TIM8", CH2N, 3, "J7 J11"),
    pins_of_timer_output(H7, "TIM8", CH3N, 3, "K1"),
    pins_of_timer_output(F4_F7, "TIM9", CH1, 3, "A2 E5"),
    pins_of_timer_output(F4_F7, "TIM9", CH2, 3, "A3 E6"),
    pins_of_timer_output(F4_F7, "TIM10", CH1, 3, "B8"),
    pins_of_timer_output(BIG_F4_F7, "TIM10", CH1, 3, "F6"),
    pins_of_timer_output(F4_F7, "TIM11", CH1, 3, "B9"),
    pins_of_timer_output(BIG_F4_F7, "TIM11", CH1, 3, "F7"),
    pins_of_timer_output(BIG_F4_F7, "TIM12", CH1, 9, "B14"),
    pins_of_timer_output(BIG_F4_F7, "TIM12", CH2, 9, "B15"),
    pins_of_timer_output(WIDE_F4_F7, "TIM12", CH1, 9, "H6"),
    pins_of_timer_output(WIDE_F4_F7, "TIM12", CH2, 9, "H9"),
    pins_of_timer_output(H7, "TIM12", CH1, 2, "B14 H6"),
    pins_of_timer_output(H7, "TIM12", CH2, 2, "B15 H9"),
    pins_of_timer_output(BIG, "TIM13", CH1, 9, "A6 F8"),
    pins_of_timer_output(BIG, "TIM14", CH1, 9, "A7 F9"),
    pins_of_timer_output(H7, "TIM15", CH1, 4, "A2 E5"),
    pins_of_timer_output(H7, "TIM15", CH2, 4, "A3 E6"),
    pins_of_timer_output(H7, "TIM15", CH1N, 4, "A1 E4"),
    pins_of_timer_output(H7, "TIM16", CH1, 1, "B8 F6"),
    pins_of_timer_output(H7, "TIM16", CH1N, 1, "B6 F8"),
    pins_of_timer_output(H7, "TIM17", CH1, 1, "B9 F7"),
    pins_of_timer_output(H7, "TIM17", CH1N, 1, "B7 F9"),
    pins_of_timer_output(L0, "TIM2", CH1, 2, "A0"),
    pins_of_timer_output(L0, "TIM2", CH1, 5, "A5 A15"),
    pins_of_timer_output(L0, "TIM2", CH2, 2, "A1 B3"),
    pins_of_timer_output(L0, "TIM2", CH3, 2, "A2 B10"),
    pins_of_timer_output(L0, "TIM2", CH4, 2, "A3 B11"),
    pins_of_timer_output(L7, "TIM2", CH1, 0, "E9"),
    pins_of_timer_output(L7, "TIM2", CH2, 0, "E10"),
    pins_of_timer_output(L7, "TIM2", CH3, 0, "E11"),
    pins_of_timer_output(L7, "TIM2", CH4, 0, "E12"),
    pins_of_timer_output(L7, "TIM3", CH1, 2, "A6 B4 C6 E3"),
    pins_of_timer_output(L7, "TIM3", CH2, 2, "A7 C7 E4"),
    pins_of_timer_output(L7, "TIM3", CH2, 4, "B5"),
    pins_of_timer_output(L7, "TIM3", CH3, 2, "B0 C8 E5"),
    pins_of_timer_output(L7, "TIM3", CH4, 2, "B1 C9 E6"),
    pins_of_timer_output(L0, "TIM21", CH1, 0, "A2"),
    pins_of_timer_output(L0, "TIM21", CH2, 0, "A3"),
    pins_of_timer_output(L0, "TIM21", CH1, 6, "B13"),
    pins_of_timer_output(L0, "TIM21", CH2, 6, "B14"),
    pins_of_timer_output(L7, "TIM21", CH1, 0, "D0 E5"),
    pins_of_timer_output(L7, "TIM21", CH2, 0, "E6"),
    pins_of_timer_output(L7, "TIM21", CH2, 1, "D7"),
    pins_of_timer_output(L0, "TIM22", CH1, 5, "A6"),
    pins_of_timer_output(L0, "TIM22", CH2, 5, "A7"),
    pins_of_timer_output(L0, "TIM22", CH1, 4, "B4"),
    pins_of_timer_output(L0, "TIM22", CH2, 4, "B5"),
    pins_of_timer_output(L0, "TIM22", CH1, 0, "C6"),
    pins_of_timer_output(L0, "TIM22", CH2, 0, "C7"),
    pins_of_timer_output(L7, "TIM22", CH1, 0, "E3"),
    pins_of_timer_output(L7, "TIM22", CH2, 0, "E4"),
];

/// Parses a pin such as `A8` into port and pin. `None` for `-`.
fn parse_pin(pin: &str) -> Option<(u8, u8)> {
    let port = pin.bytes().next()?.checked_sub(b'A')?;
    Some((port, pin[1..].parse().ok()?))
}

/// Returns all pins that a chip's timers can use.
pub(in crate::stm32) fn timer_pins(chip: Chip) -> Vec<TimerPin> {
    let mut all = Vec::new();
    for line in LINES.iter().filter(|line| line.chips >> chip as u8 & 1 != 0) {
        for (n, name) in line.pins.split(' ').enumerate() {
            let Some((port, pin)) = parse_pin(name) else { continue };
            let function = if chip == F103 { n as u8 } else { line.function };
            all.push(TimerPin { timer: line.timer, output: line.output, port, pin, function });
        }
    }
    all
}

/// Returns the value of a timer's field in AFIO_MAPR of the F1.
pub(in crate::stm32) fn pin_remap_field(timer: &str, mapr: u32) -> u8 {
    let field = match timer {
        "TIM1" => mapr >> 6 & 3,
        "TIM2" => mapr >> 8 & 3,
        "TIM3" => mapr >> 10 & 3,
        _ => mapr >> 12 & 1,
    };
    field as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(chip: Chip, port: u8, pin: u8) -> Vec<(&'static str, u8, u8)> {
        let pins = timer_pins(chip).into_iter().filter(|at| (at.port, at.pin) == (port, pin));
        pins.map(|at| (at.timer, at.output, at.function)).collect()
    }

    /// Rows of the data sheets' alternate function tables.
    #[test]
    fn timer_pin_functions_match_data_sheet() {
        assert_eq!(names(F446, 0, 5), [("TIM2", CH1, 1), ("TIM8", CH1N, 3)]);
        assert_eq!(names(F411, 0, 5), [("TIM2", CH1, 1)]);
        assert_eq!(names(F446, 1, 8), [("TIM2", CH1, 1), ("TIM4", CH3, 2), ("TIM10", CH1, 3)]);
        assert_eq!(names(F407, 1, 8), [("TIM4", CH3, 2), ("TIM10", CH1, 3)]);
        assert_eq!(names(F767, 1, 14), [("TIM1", CH2N, 1), ("TIM8", CH2N, 3), ("TIM12", CH1, 9)]);
        assert_eq!(names(H743, 1, 14), [("TIM1", CH2N, 1), ("TIM8", CH2N, 3), ("TIM12", CH1, 2)]);
        assert_eq!(names(L053, 0, 5), [("TIM2", CH1, 5)]);
        assert_eq!(names(L073, 1, 5), [("TIM3", CH2, 4), ("TIM22", CH2, 4)]);
        assert_eq!(names(F103, 1, 0), [("TIM1", CH2N, 1), ("TIM3", CH3, 0), ("TIM3", CH3, 2)]);
    }

    #[test]
    fn every_pin_is_of_a_timer_and_a_port_of_its_chip() {
        for chip in Chip::ALL {
            let whole = crate::stm32::Stm32::new(chip, &crate::stm32::Options::default());
            let pins = timer_pins(chip);
            for at in &pins {
                assert!(whole.gpio_port(at.port).is_some() && at.pin < 16, "{chip:?} {at:?}");
                assert!(chip.spec().rows().any(|row| row.name == at.timer), "{chip:?} {at:?}");
                let place = (at.port, at.pin, at.function, at.timer);
                let same = pins.iter().filter(|other| (other.port, other.pin, other.function, other.timer) == place);
                assert_eq!(same.count(), 1, "{chip:?} {at:?}");
            }
        }
    }

    #[test]
    fn remap_fields_of_the_f1() {
        for (timer, mapr, value) in
            [("TIM1", 3 << 6, 3), ("TIM2", 2 << 8, 2), ("TIM3", 2 << 10, 2), ("TIM4", 1 << 12, 1)]
        {
            assert_eq!((pin_remap_field(timer, mapr), pin_remap_field(timer, !mapr) & value), (value, 0), "{timer}");
        }
    }
}
