//! The unsupported requests to registers of modelled blocks: one row each. Asking warns once and ends a run under
//! `strict`. docs/virtual-stm32.md holds the same sentences, and a test makes every example's accesses on a board.
//!
//! Left out is what shows nothing on silicon either while all around a chip is well: noise filters and sampling modes
//! without noise, security systems of clocks that do not fail, detectors of a supply voltage that does not fall.

use super::adc::AdcLayout;
use super::adc_v4::AdcV4Layout;
use super::chips::{Chip, Device, Spec};
use super::spi::SpiLayout;
use super::usart::UsartLayout;

/// A row of the table of unsupported features: what a write to a register can request, but the model does not do.
#[derive(Debug)]
pub struct Limit {
    asks: fn(&PeripheralRegisterWrite) -> bool,
    /// The missing effect, as a sentence without its stop.
    pub about: &'static str,
    /// Writes (address, value) that ask for it on a chip: the last one, after what it needs.
    pub examples: &'static [(Chip, &'static [(u32, u32)])],
}

/// A write to a block, which may request something unsupported.
struct PeripheralRegisterWrite<'a> {
    spec: &'a Spec,
    device: Device,
    offset: u32,
    value: u32,
}

impl PeripheralRegisterWrite<'_> {
    /// Returns whether the write sets one of these bits at this offset.
    fn does_write_set_bits_at(&self, offset: u32, bits: u32) -> bool {
        self.offset == offset && self.value & bits != 0
    }

    /// Returns whether the written block is a serial port with the first register layout: without FIFO, with DR in
    /// place of TDR and RDR.
    fn is_first_layout_usart(&self) -> bool {
        matches!(self.spec.usart, UsartLayout::V1 { .. })
    }

    /// Returns whether the write sets one of these bits in CR1, CR2 or CR3 of a serial port. The bits must mean the
    /// same in both layouts.
    fn does_write_set_usart_control_bits(&self, number: u32, bits: u32) -> bool {
        self.does_write_set_bits_at(if self.is_first_layout_usart() { 8 + number * 4 } else { number * 4 - 4 }, bits)
    }

    /// Returns whether the write sets one of these bits in a control register that only the later layout of serial
    /// ports has.
    fn does_write_set_later_usart_bits(&self, number: u32, bits: u32) -> bool {
        !self.is_first_layout_usart() && self.does_write_set_usart_control_bits(number, bits)
    }

    /// Returns whether the chip is one of these.
    fn is_chip_in_list(&self, chips: &[Chip]) -> bool {
        chips.contains(&self.spec.chip)
    }

    /// Returns whether the write sets bits of PWR that let pins wake the chip.
    fn enables_wake_up_pins(&self) -> bool {
        match self.spec.chip {
            L053 | L073 => self.does_write_set_bits_at(0x04, 7 << 8),
            F446 => self.does_write_set_bits_at(0x04, 3 << 7),
            F767 => self.does_write_set_bits_at(0x0c, 0x3f << 8),
            H743 => self.does_write_set_bits_at(0x28, 0x3f),
            F103 | F407 | F411 => self.does_write_set_bits_at(0x04, 1 << 8),
        }
    }

    /// Returns whether the write sets these bits in this register of an ADC's converter, given for F1, F4 and F7, L0,
    /// H7 as (offset, bits).
    fn does_write_set_adc_bits(&self, f1: (u32, u32), f4: (u32, u32), l0: (u32, u32), h7: (u32, u32)) -> bool {
        let (register, bits) = match self.device {
            Device::Adc(AdcLayout::F1) => f1,
            Device::Adc(AdcLayout::F4) => f4,
            Device::AdcV4(AdcV4Layout::L0) => l0,
            _ => h7,
        };
        self.offset < 0x300 && self.offset & 0xff == register && self.value & bits != 0
    }

    /// Returns whether the write sets these bits in a register of the I2C of F1 and F4, or in CR1 of the later I2C.
    fn does_write_set_i2c_bits(&self, first: (u32, u32), later: u32) -> bool {
        match self.device {
            Device::I2cV1 => self.does_write_set_bits_at(first.0, first.1),
            _ => self.does_write_set_bits_at(0, later),
        }
    }

    /// Returns the written bytes of CCMR1 or CCMR2 of a timer, one for each channel.
    fn timer_channel_mode_bytes_of_write(&self) -> impl Iterator<Item = u32> {
        let is_modes = self.is_timer_with_channels() && matches!(self.offset, 0x18 | 0x1c);
        [self.value & 0xff, self.value >> 8 & 0xff].into_iter().filter(move |_| is_modes)
    }

    /// Returns whether the write sets these bits in a register of an SPI, given as (offset, bits) for all but the H7,
    /// and for the H7.
    fn does_write_set_spi_bits(&self, first: (u32, u32), h7: (u32, u32)) -> bool {
        let (offset, bits) = if self.is_chip_in_list(&[H743]) { h7 } else { first };
        self.does_write_set_bits_at(offset, bits)
    }

    /// Returns whether the written register is CR of a DMA stream.
    fn is_stream_control(&self) -> bool {
        !self.is_chip_in_list(L0)
            && !self.is_chip_in_list(&[F103])
            && self.offset >= 0x10
            && (self.offset - 0x10).is_multiple_of(24)
    }

    /// Returns whether the written block is a timer with capture/compare channels.
    fn is_timer_with_channels(&self) -> bool {
        matches!(self.device, Device::Timer(kind) if kind.channels > 0)
    }
}

/// Returns the row of the table for writes that ask for something unsupported.
const fn unsupported_row(
    asks: fn(&PeripheralRegisterWrite) -> bool,
    about: &'static str,
    examples: &'static [(Chip, &'static [(u32, u32)])],
) -> Limit {
    Limit { asks, about, examples }
}

use Chip::*;

const L0: &[Chip] = &[L053, L073];
const F4_F7: &[Chip] = &[F407, F411, F446, F767];

/// RCC's enable bits for the examples: USART2 and the timers 2 to 7, then TIM1.
const F103_APB1: (u32, u32) = (0x4002_101c, 0x0002_0002);
const F407_APB1: (u32, u32) = (0x4002_3840, 0x0002_0802);
const F407_APB2: (u32, u32) = (0x4002_3844, 1);
const H743_APB1: (u32, u32) = (0x5802_44e8, 0x0002_0002);
const L073_APB1: (u32, u32) = (0x4002_1038, 0x0002_0003);

/// Serial ports.
static USART: &[Limit] = &[
    unsupported_row(
        |at| {
            at.is_first_layout_usart() && at.does_write_set_usart_control_bits(1, 1)
                || !at.is_first_layout_usart() && at.does_write_set_bits_at(0x18, 2)
        },
        "USART: sending breaks is not modelled",
        &[(F103, &[F103_APB1, (0x4000_440c, 0x2009)]), (F767, &[F407_APB1, (0x4000_4418, 2)])],
    ),
    unsupported_row(
        |at| at.does_write_set_usart_control_bits(1, 1 << 10),
        "USART: parity is not modelled, neither sent nor checked",
        &[(F407, &[F407_APB1, (0x4000_440c, 0x240c)]), (L073, &[L073_APB1, (0x4000_4400, 0x40c)])],
    ),
    unsupported_row(
        |at| at.does_write_set_usart_control_bits(1, 1 << 12) && at.value & 1 << 10 == 0,
        "USART: the ninth bit of a word is not modelled and is lost",
        &[(F407, &[F407_APB1, (0x4000_440c, 0x300c)]), (H743, &[H743_APB1, (0x4000_4400, 0x100c)])],
    ),
    unsupported_row(
        |at| {
            at.is_first_layout_usart() && at.does_write_set_usart_control_bits(1, 2)
                || at.does_write_set_later_usart_bits(1, 3 << 13)
                || !at.is_first_layout_usart() && at.does_write_set_bits_at(0x18, 4)
        },
        "USART: mute mode and character match are not modelled",
        &[(F103, &[F103_APB1, (0x4000_440c, 0x2002)]), (L073, &[L073_APB1, (0x4000_4400, 1 << 13)])],
    ),
    unsupported_row(
        |at| at.does_write_set_later_usart_bits(1, 3 << 26) || at.does_write_set_later_usart_bits(2, 1 << 23),
        "USART: the receiver time-out and the end of block are not modelled",
        &[(F767, &[F407_APB1, (0x4000_4404, 1 << 23)]), (H743, &[H743_APB1, (0x4000_4400, 1 << 26)])],
    ),
    unsupported_row(
        |at| at.does_write_set_usart_control_bits(2, 1 << 14 | 1 << 6),
        "USART: LIN breaks are not modelled, neither sent nor detected",
        &[(F407, &[F407_APB1, (0x4000_4410, 0x4000)]), (F767, &[F407_APB1, (0x4000_4404, 0x4000)])],
    ),
    unsupported_row(
        |at| at.does_write_set_usart_control_bits(2, 1 << 11) || at.does_write_set_later_usart_bits(2, 1),
        "USART: the synchronous mode is not modelled",
        &[(F103, &[F103_APB1, (0x4000_4410, 0x800)]), (H743, &[H743_APB1, (0x4000_4404, 1)])],
    ),
    unsupported_row(
        |at| at.does_write_set_later_usart_bits(2, 0x1f << 16 | 1 << 15),
        "USART: swapped or inverted lines, MSB first and automatic baud rates are not modelled",
        &[(F767, &[F407_APB1, (0x4000_4404, 1 << 19)]), (L073, &[L073_APB1, (0x4000_4404, 1 << 20)])],
    ),
    unsupported_row(
        |at| at.does_write_set_usart_control_bits(3, 0x36),
        "USART: IrDA and smartcard mode are not modelled",
        &[(F407, &[F407_APB1, (0x4000_4414, 2)]), (F767, &[F407_APB1, (0x4000_4408, 0x20)])],
    ),
    unsupported_row(
        |at| at.does_write_set_usart_control_bits(3, 0x700) || at.does_write_set_later_usart_bits(3, 1 << 14),
        "USART: modem lines and driver enable are not modelled",
        &[(F407, &[F407_APB1, (0x4000_4414, 0x200)]), (L073, &[L073_APB1, (0x4000_4408, 1 << 14)])],
    ),
    unsupported_row(
        |at| at.does_write_set_later_usart_bits(3, 1 << 22),
        "USART: waking from a stop mode is not modelled",
        &[(L073, &[L073_APB1, (0x4000_4408, 1 << 22)])],
    ),
];

/// Found by the timers themselves, which know what they listen to.
pub(super) static LATE: Limit = unsupported_row(
    |_| false,
    "TIM: interrupts and outputs of a timer that counts another timer's updates come late",
    &[(F103, &[(0x4002_101c, 3), (0x4000_0408, 0x17), (0x4000_040c, 1)])],
);

/// Found where the clocks are known.
pub(super) static RNG_CLOCK: Limit = unsupported_row(
    |_| false,
    "RNG: it always runs at 48 MHz, whatever its clock is",
    &[
        (L073, &[(0x4002_1030, 1 << 20), (0x4002_5000, 4)]),
        (F407, &[(0x4002_3834, 1 << 6), (0x5006_0800, 4)]),
        (F767, &[(0x4002_3834, 1 << 6), (0x5006_0800, 4)]),
        (H743, &[(0x5802_44dc, 1 << 6), (0x4802_1800, 4)]),
    ],
);

/// Found by the SPIs themselves: the H7's has its master bit in another register than the enable bit.
pub(super) static SPI_SLAVE: Limit = unsupported_row(
    |_| false,
    "SPI: slave mode is not modelled, because no master is connected",
    &[
        (F103, &[F103_SPI1, (0x4001_3000, 0x40)]),
        (F767, &[F407_SPI1, (0x4001_3000, 0x40)]),
        (H743, &[H743_SPI1, (0x4001_3000, 1)]),
    ],
);

/// Rows that are found by who knows more than the write.
static FOUND: [&Limit; 3] = [&LATE, &RNG_CLOCK, &SPI_SLAVE];

/// Timers.
static TIMER: &[Limit] = &[
    unsupported_row(
        |at| at.offset == 0 && at.is_timer_with_channels() && matches!(at.value >> 5 & 3, 1 | 2),
        "TIM: a centre-aligned counter sets its compare flags in both directions",
        &[(F407, &[F407_APB1, (0x4000_0400, 0x20)])],
    ),
    unsupported_row(
        |at| at.offset == 4 && !matches!(at.value >> 4 & 7, 0 | 2),
        "TIM: only updates are modelled as trigger outputs to other timers",
        &[(F103, &[F103_APB1, (0x4000_0404, 0x10)])],
    ),
    unsupported_row(
        |at| at.is_timer_with_channels() && at.does_write_set_bits_at(0x0c, 3 << 13),
        "TIM: DMA requests of triggers and commutation are not modelled",
        &[(F407, &[F407_APB1, (0x4000_040c, 1 << 14)]), (L073, &[L073_APB1, (0x4000_000c, 1 << 14)])],
    ),
    unsupported_row(
        |at| at.timer_channel_mode_bytes_of_write().any(|mode| mode & 3 == 3),
        "TIM: captures by a trigger are not modelled",
        &[(F407, &[F407_APB1, (0x4000_0418, 0x300)])],
    ),
    unsupported_row(
        |at| at.timer_channel_mode_bytes_of_write().any(|mode| mode & 0x83 == 0x80),
        "TIM: clearing outputs by the external trigger input is not modelled",
        &[(F407, &[F407_APB1, (0x4000_0418, 0x80)])],
    ),
    unsupported_row(
        |at| {
            at.is_chip_in_list(&[F767, H743])
                && at.timer_channel_mode_bytes_of_write().count() > 0
                && at.value & 0x0101_0000 != 0
        },
        "TIM: the retriggerable, combined and asymmetric output modes are not modelled",
        &[(F767, &[F407_APB1, (0x4000_0418, 1 << 16)])],
    ),
    unsupported_row(
        |at| matches!(at.device, Device::Timer(kind) if kind.advanced) && at.does_write_set_bits_at(0x04, 1),
        "TIM: preloaded output controls for commutation are not modelled",
        &[(F103, &[(0x4002_1018, 1 << 11), (0x4001_2c04, 1)])],
    ),
    unsupported_row(
        |at| {
            at.is_timer_with_channels()
                && at.does_write_set_bits_at(if at.is_chip_in_list(&[H743]) { 0x68 } else { 0x50 }, u32::MAX)
                && !at.is_chip_in_list(&[F103])
        },
        "TIM: inputs and triggers from other sources than pins are not modelled",
        &[(L073, &[L073_APB1, (0x4000_0050, 1)]), (H743, &[H743_APB1, (0x4000_0468, 1)])],
    ),
    unsupported_row(
        |at| matches!(at.device, Device::Timer(kind) if kind.advanced) && at.does_write_set_bits_at(0x44, 1 << 12),
        "TIM: the break input is not modelled",
        &[(F407, &[F407_APB2, (0x4001_0044, 0x1000)])],
    ),
    unsupported_row(
        |at| {
            at.is_timer_with_channels()
                && at.is_chip_in_list(&[F767, H743])
                && matches!(at.offset, 0x54 | 0x58 | 0x5c)
                && at.value != 0
        },
        "TIM: channels 5 and 6 are not modelled",
        &[(F767, &[F407_APB2, (0x4001_0058, 7)])],
    ),
];

/// Clocks and resets.
static RCC: &[Limit] =
    &[
        unsupported_row(
            |at| match at.spec.chip {
                F103 => at.does_write_set_bits_at(0x04, 7 << 24),
                L053 | L073 => at.does_write_set_bits_at(0x0c, 0xf << 24),
                H743 => at.does_write_set_bits_at(0x10, 7 << 22 | 7 << 29),
                _ => at.does_write_set_bits_at(0x08, 3 << 21 | 3 << 30),
            },
            "RCC: the MCO clock outputs are not modelled",
            &[
                (F103, &[(0x4002_1004, 4 << 24)]),
                (L073, &[(0x4002_100c, 1 << 24)]),
                (F407, &[(0x4002_3808, 1 << 21)]),
                (H743, &[(0x5802_4410, 1 << 22)]),
            ],
        ),
        unsupported_row(
            |at| at.is_chip_in_list(F4_F7) && at.does_write_set_bits_at(0x80, 1 << 31),
            "RCC: spread-spectrum clocks are not modelled",
            &[(F407, &[(0x4002_3880, 1 << 31)])],
        ),
        unsupported_row(
            |at| match at.spec.chip {
                F103 => at.offset == 0x14 && at.value & 0x14 != 0x14,
                L053 | L073 => matches!(at.offset, 0x3c..=0x48),
                H743 => matches!(at.offset, 0xfc..=0x11c | 0x15c..=0x17c),
                _ => at.spec.rcc.resets.iter().any(|&(offset, value)| {
                    matches!(offset, 0x50..=0x64) && offset == at.offset && value & !at.value != 0
                }),
            },
            "RCC: clocks keep running while the core sleeps, whatever the sleep enable bits are",
            &[
                (F103, &[(0x4002_1014, 0)]),
                (L073, &[(0x4002_1048, 1)]),
                (F767, &[(0x4002_3860, 1)]),
                (H743, &[(0x5802_4500, 1)]),
            ],
        ),
    ];

/// Flash interfaces.
static FLASH: &[Limit] = &[
    unsupported_row(
        |at| match at.spec.chip {
            L053 | L073 => at.does_write_set_bits_at(0x04, 1 << 3 | 1 << 9 | 1 << 10),
            H743 => at.does_write_set_bits_at(0x0c, 7 << 1) || at.does_write_set_bits_at(0x10c, 7 << 1),
            _ => at.does_write_set_bits_at(0x10, 7),
        },
        "FLASH: reads do not wait for the end of an erase or program operation",
        &[
            (F103, &[(0x4002_2004, 0x4567_0123), (0x4002_2004, 0xcdef_89ab), (0x4002_2010, 1)]),
            (L073, &[(0x4002_2004, 1 << 3)]),
            (F446, &[(0x4002_3c10, 1)]),
            (H743, &[(0x5200_200c, 2)]),
        ],
    ),
    unsupported_row(
        |at| match at.spec.chip {
            F103 => at.does_write_set_bits_at(0x10, 3 << 4),
            L053 | L073 => at.does_write_set_bits_at(0x04, 1 << 18),
            H743 => at.does_write_set_bits_at(0x18, 2) || at.does_write_set_bits_at(0x118, 2),
            _ => at.does_write_set_bits_at(0x14, 2),
        },
        "FLASH: option bytes cannot be changed",
        &[
            (F103, &[(0x4002_2010, 0x10)]),
            (L073, &[(0x4002_2004, 1 << 18)]),
            (F767, &[(0x4002_3c14, 2)]),
            (H743, &[(0x5200_2018, 2)]),
        ],
    ),
    unsupported_row(
        |at| at.is_chip_in_list(L0) && at.does_write_set_bits_at(0x00, 3 << 3),
        "FLASH: the power-down mode is not modelled",
        &[(L053, &[(0x4002_2000, 1 << 3)])],
    ),
];

/// External interrupts.
static EXTI: &[Limit] = &[unsupported_row(
    |at| match at.spec.chip {
        H743 => {
            at.does_write_set_bits_at(0x00, !0xffff)
                || at.does_write_set_bits_at(0x04, !0xffff)
                || matches!(at.offset, 0x20 | 0x24 | 0x40 | 0x44)
        }
        _ => matches!(at.offset, 0x08 | 0x0c) && at.value > 0xffff,
    },
    "EXTI: only pins and software trigger lines are modelled",
    &[(F407, &[(0x4001_3c08, 1 << 17)]), (H743, &[(0x5800_0000, 1 << 17)])],
)];

/// The window watchdog.
static WWDG: &[Limit] = &[unsupported_row(
    |at| at.does_write_set_bits_at(0, 0x80),
    "WWDG: every reload restarts the prescaler, unlike on silicon",
    &[(F407, &[F407_APB1, (0x4000_2c00, 0xff)])],
)];

/// Real-time clocks with a calendar.
static RTC: &[Limit] = &[
    unsupported_row(
        |at| matches!(at.offset, 0x2c | 0x3c) && at.value != 0 || at.does_write_set_bits_at(0x08, 1 << 4),
        "RTC: calibration and shifting have no effect",
        &[(F407, &[(0x4002_3840, 1 << 28), (0x4000_7000, 0x100), (0x4000_283c, 1)])],
    ),
    unsupported_row(
        |at| at.does_write_set_bits_at(0x40, 0x29) || at.does_write_set_bits_at(0x08, 7 << 21),
        "RTC: output pins and tamper detection are not modelled",
        &[(F407, &[(0x4002_3840, 1 << 28), (0x4000_7000, 0x100), (0x4000_2840, 1)])],
    ),
];

/// The F1's backup registers.
static BACKUP: &[Limit] = &[unsupported_row(
    |at| at.does_write_set_bits_at(0x2c, 0x3ff) || at.does_write_set_bits_at(0x30, 1),
    "BKP: calibration, output pins and tamper detection are not modelled",
    &[(F103, &[(0x4002_101c, 0x1800_0000), (0x4000_7000, 0x100), (0x4000_6c2c, 0x80)])],
)];

/// AFIO of the F1.
static SYSCFG: &[Limit] = &[unsupported_row(
    |at| at.is_chip_in_list(&[F103]) && at.does_write_set_bits_at(0, 1 << 7),
    "AFIO: event outputs on pins are not modelled",
    &[(F103, &[(0x4002_1018, 1), (0x4001_0000, 0x80)])],
)];

/// Pins.
static GPIO: &[Limit] = &[unsupported_row(
    |at| {
        at.is_chip_in_list(&[F407, F411, F446, F767, H743])
            && matches!(at.offset, 0x20 | 0x24)
            && has_nibble_with_value(at.value, 15)
    },
    "GPIO: event outputs on pins are not modelled",
    &[
        (F407, &[(0x4002_3830, 0x0010_0001), (0x4002_0020, 0xf0)]),
        (H743, &[(0x5802_44e0, 1), (0x5802_0024, 0xf << 28)]),
    ],
)];

/// Returns whether one of a word's eight nibbles has this value.
fn has_nibble_with_value(word: u32, nibble: u32) -> bool {
    (0..8).any(|n| word >> (4 * n) & 0xf == nibble)
}

/// Power control. The warning of stop and standby comes when the core asks for them.
static PWR: &[Limit] = &[
    unsupported_row(
        |at| at.enables_wake_up_pins(),
        "PWR: wake-up pins are not modelled",
        &[
            (F103, &[(0x4002_101c, 1 << 28), (0x4000_7004, 1 << 8)]),
            (L073, &[(0x4002_1038, 1 << 28), (0x4000_7004, 1 << 10)]),
            (F411, &[(0x4002_3840, 1 << 28), (0x4000_7004, 1 << 8)]),
            (F446, &[(0x4002_3840, 1 << 28), (0x4000_7004, 1 << 7)]),
            (F767, &[(0x4002_3840, 1 << 28), (0x4000_700c, 1 << 13)]),
            (H743, &[(0x5802_4828, 1)]),
        ],
    ),
    unsupported_row(
        |at| at.is_chip_in_list(L0) && at.does_write_set_bits_at(0x00, 1 << 14),
        "PWR: the low-power run mode is not modelled",
        &[(L053, &[(0x4002_1038, 1 << 28), (0x4000_7000, 0x5001)])],
    ),
    unsupported_row(
        |at| at.is_chip_in_list(&[F411, F446]) && at.does_write_set_bits_at(0x00, 3 << 20),
        "PWR: stopping the flash while the core runs is not modelled",
        &[(F446, &[(0x4002_3840, 1 << 28), (0x4000_7000, 1 << 20)])],
    ),
];

/// The debug unit of the chip. It freezes peripherals for a debugger that halts the core.
static DBGMCU: &[Limit] = &[unsupported_row(
    |at| match at.spec.chip {
        L053 | L073 => false,
        H743 => at.does_write_set_bits_at(0x04, 1 << 20),
        _ => at.does_write_set_bits_at(0x04, 1 << 5),
    },
    "DBGMCU: trace output is not modelled",
    &[(F103, &[(0xe004_2004, 0x20)]), (F767, &[(0xe004_2004, 0x20)]), (H743, &[(0x5c00_1004, 1 << 20)])],
)];

/// SPI1 of F1 and F4, with its enable bit.
const F103_SPI1: (u32, u32) = (0x4002_1018, 1 << 12);
const F407_SPI1: (u32, u32) = (0x4002_3844, 1 << 12);
const F103_ADC1: (u32, u32) = (0x4002_1018, 1 << 9);
const L073_ADC1: (u32, u32) = (0x4002_1034, 1 << 9);
const H743_ADC1: (u32, u32) = (0x5802_44d8, 1 << 5);
const H743_SPI1: (u32, u32) = (0x5802_44f0, 1 << 12);
const F407_ADC1: (u32, u32) = (0x4002_3844, 1 << 8);
const F407_DMA1: (u32, u32) = (0x4002_3830, 1 << 21);
const H743_DMA1: (u32, u32) = (0x5802_44d8, 1);
const F407_I2C1: (u32, u32) = (0x4002_3840, 1 << 21);
const L073_I2C1: (u32, u32) = (0x4002_1038, 1 << 21);

/// SPI, of the H7 too. The slave mode is [`SPI_SLAVE`].
static SPI: &[Limit] = &[
    unsupported_row(
        |at| {
            at.does_write_set_spi_bits((0, 1 << 10), (0, 0))
                || at.does_write_set_spi_bits((0, 1 << 15), (0, 0)) && at.value & 1 << 14 == 0
        },
        "SPI: receive-only mode is not modelled",
        &[(F407, &[F407_SPI1, (0x4001_3000, 0x704)]), (F407, &[F407_SPI1, (0x4001_3000, 0x8304)])],
    ),
    unsupported_row(
        |at| at.does_write_set_spi_bits((0, 1 << 13), (8, 1 << 22)),
        "SPI: the CRC is not modelled",
        &[(F407, &[F407_SPI1, (0x4001_3000, 0x2304)]), (H743, &[H743_SPI1, (0x4001_3008, 1 << 22)])],
    ),
    unsupported_row(
        |at| matches!(at.device, Device::Spi(SpiLayout::Fifo)) && at.does_write_set_bits_at(4, 3 << 13),
        "SPI: odd numbers of frames that DMA packs in pairs are not modelled",
        &[(F767, &[F407_SPI1, (0x4001_3004, 1 << 13)])],
    ),
    unsupported_row(
        |at| at.does_write_set_spi_bits((4, 1 << 4), (0xc, 7 << 19)),
        "SPI: the TI format is not modelled",
        &[(F407, &[F407_SPI1, (0x4001_3004, 0x10)]), (H743, &[H743_SPI1, (0x4001_300c, 1 << 19)])],
    ),
    unsupported_row(
        |at| at.does_write_set_spi_bits((0x1c, 1 << 11), (0x50, 1)),
        "SPI: I2S is not modelled",
        &[(F407, &[F407_SPI1, (0x4001_301c, 0x800)]), (H743, &[H743_SPI1, (0x4001_3050, 1)])],
    ),
    unsupported_row(
        |at| at.does_write_set_spi_bits((0, 0), (4, 0xffff << 16)),
        "SPI: extending a transfer by TSER is not modelled",
        &[(H743, &[H743_SPI1, (0x4001_3004, 1 << 16)])],
    ),
];

/// ADC. An F4's three converters are 0x100 apart, as the H7's are.
static ADC: &[Limit] = &[
    unsupported_row(
        |at| match at.device {
            Device::Adc(AdcLayout::F1) => at.does_write_set_bits_at(8, 1 << 20) && at.value >> 17 & 7 != 7,
            _ => at.does_write_set_adc_bits((0, 0), (8, 3 << 28), (0xc, 3 << 10), (0xc, 3 << 10)),
        },
        "ADC: starting a conversion by a timer or a pin is not modelled",
        &[
            (F407, &[F407_ADC1, (0x4001_2008, 1 << 28)]),
            (F103, &[F103_ADC1, (0x4001_2408, 1 << 20)]),
            (L073, &[L073_ADC1, (0x4001_240c, 1 << 10)]),
            (H743, &[H743_ADC1, (0x4002_200c, 1 << 11)]),
        ],
    ),
    unsupported_row(
        |at| {
            at.does_write_set_adc_bits((8, 1 << 21 | 1 << 15), (8, 1 << 22 | 3 << 20), (0, 0), (8, 1 << 3))
                || at.does_write_set_adc_bits((0, 0), (0, 0), (0, 0), (0xc, 1 << 25))
        },
        "ADC: injected conversions are not modelled",
        &[
            (F407, &[F407_ADC1, (0x4001_2008, 1 << 22)]),
            (F103, &[F103_ADC1, (0x4001_2408, 1 << 21)]),
            (H743, &[H743_ADC1, (0x4002_2008, 1 << 3)]),
        ],
    ),
    unsupported_row(
        |at| {
            at.does_write_set_adc_bits((4, 3 << 22), (4, 3 << 22), (0xc, 1 << 23), (0xc, 3 << 23))
                || at.does_write_set_adc_bits((0, 0), (0, 0), (0, 0), (0xa0, u32::MAX))
                || at.does_write_set_adc_bits((0, 0), (0, 0), (0, 0), (0xa4, u32::MAX))
        },
        "ADC: the analog watchdog is not modelled",
        &[
            (F407, &[F407_ADC1, (0x4001_2004, 1 << 23)]),
            (L073, &[L073_ADC1, (0x4001_240c, 1 << 23)]),
            (H743, &[H743_ADC1, (0x4002_20a0, 1)]),
        ],
    ),
    unsupported_row(
        |at| match at.device {
            Device::Adc(AdcLayout::F1) => at.does_write_set_bits_at(4, 0xf << 16),
            Device::Adc(AdcLayout::F4) => at.does_write_set_bits_at(0x304, 0x1f),
            _ => at.is_chip_in_list(&[H743]) && at.does_write_set_bits_at(0x308, 0x1f),
        },
        "ADC: modes with several converters are not modelled",
        &[
            (F407, &[F407_ADC1, (0x4001_2304, 6)]),
            (F103, &[F103_ADC1, (0x4001_2404, 6 << 16)]),
            (H743, &[H743_ADC1, (0x4002_2308, 6)]),
        ],
    ),
    unsupported_row(
        |at| {
            at.is_chip_in_list(&[H743])
                && at.does_write_set_adc_bits((0, 0), (0, 0), (0, 0), (0xc, 2))
                && at.value & 3 == 2
        },
        "ADC: results for the DFSDM are not modelled",
        &[(H743, &[H743_ADC1, (0x4002_210c, 2)])],
    ),
    unsupported_row(
        |at| {
            [0x60, 0x64, 0x68, 0x6c, 0xc0]
                .into_iter()
                .any(|register| at.does_write_set_adc_bits((0, 0), (0, 0), (0, 0), (register, u32::MAX)))
        },
        "ADC: differential inputs and offsets are not modelled",
        &[(H743, &[H743_ADC1, (0x4002_20c0, 2)])],
    ),
];

/// I2C.
static I2C: &[Limit] = &[unsupported_row(
    |at| at.does_write_set_i2c_bits((0, 0x32), 0xf << 20),
    "I2C: SMBus and packet error checking are not modelled",
    &[(F407, &[F407_I2C1, (0x4000_5400, 0x20)]), (L073, &[L073_I2C1, (0x4000_5400, 1 << 23)])],
)];

/// DMA controllers with streams.
static DMA: &[Limit] = &[unsupported_row(
    |at| at.is_stream_control() && at.value & 1 << 5 != 0,
    "DMA: peripherals that control the length of a transfer are not modelled",
    &[(F407, &[F407_DMA1, (0x4002_6010, 1 << 5)]), (H743, &[H743_DMA1, (0x4002_0010, 1 << 5)])],
)];

/// DMAMUX1.
static DMA_MUX: &[Limit] = &[unsupported_row(
    |at| at.offset < 0x40 && at.value & (1 << 8 | 1 << 9 | 1 << 16) != 0 || at.offset >= 0x100 && at.value != 0,
    "DMAMUX: synchronisation, events and request generators are not modelled",
    &[(H743, &[(0x4002_0800, 1 << 16)]), (H743, &[(0x4002_0900, 1 << 16)])],
)];

/// Returns the rows of a kind of block: what it does not support. A new kind of block must have its rows here.
fn rows_of_unsupported_features(device: Device) -> &'static [Limit] {
    match device {
        Device::Usart(..) | Device::Lpuart(_) => USART,
        Device::Timer(_) => TIMER,
        Device::Rcc => RCC,
        Device::Flash => FLASH,
        Device::Exti => EXTI,
        Device::Wwdg => WWDG,
        Device::Rtc => RTC,
        Device::Backup => BACKUP,
        Device::Syscfg => SYSCFG,
        Device::Gpio(_) => GPIO,
        Device::Pwr => PWR,
        Device::Dbgmcu => DBGMCU,
        Device::Spi(_) | Device::SpiH7(..) => SPI,
        Device::Adc(_) | Device::AdcV4(_) => ADC,
        Device::I2cV1 | Device::I2cV2(_) => I2C,
        Device::Dma => DMA,
        Device::DmaMux => DMA_MUX,
        // Of RNG see `RNG_CLOCK`. The others do all that their registers ask for.
        Device::Rng | Device::Iwdg | Device::Crc | Device::RtcF1 => &[],
        // Nothing of them is modelled, which the first access tells.
        Device::File(..) => &[],
    }
}

/// Returns the rows of all blocks.
pub fn all_unsupported_feature_rows() -> impl Iterator<Item = &'static Limit> {
    let tables = [USART, TIMER, RCC, FLASH, EXTI, WWDG, RTC, BACKUP, SYSCFG, GPIO, PWR, DBGMCU, SPI, I2C, ADC];
    let tables = tables.into_iter().chain([DMA, DMA_MUX]);
    tables.flatten().chain(FOUND)
}

/// Returns the rows of what is unsupported and requested by a write of `value` at this offset.
pub(super) fn find_unsupported_write_requests(
    spec: &Spec,
    device: Device,
    offset: u32,
    value: u32,
) -> impl Iterator<Item = &'static Limit> {
    let at = PeripheralRegisterWrite { spec, device, offset, value };
    rows_of_unsupported_features(device).iter().filter(move |row| (row.asks)(&at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that says what these boards do not do.
    const PAGE: &str = include_str!("../../../../docs/virtual-stm32.md");

    #[test]
    fn page_lists_every_limit() {
        for row in all_unsupported_feature_rows() {
            assert!(PAGE.contains(row.about), "docs/virtual-stm32.md does not say: {}", row.about);
        }
    }

    #[test]
    fn every_model_limit_has_unique_sentence() {
        let all: Vec<_> = all_unsupported_feature_rows().collect();
        for (n, row) in all.iter().enumerate() {
            assert!(!row.examples.is_empty(), "{}", row.about);
            assert!(all[..n].iter().all(|other| !other.about.contains(row.about) && !row.about.contains(other.about)));
        }
    }
}
