//! The eight chips as data: which block is where, on which bus, after which enable bit, on which interrupt lines.

use super::adc::AdcLayout;
use super::adc_v4::AdcV4Layout;
use super::clocks::Bus;
use super::exti::ExtiLayout;
use super::flash;
use super::gpio::{GpioLayout, GpioReset};
use super::pwr::PwrKind;
use super::rcc::{self, KernelClock};
use super::regfile::{FixedRegisters, fixed_register};
use super::spi::SpiLayout;
use super::syscfg::SyscfgKind;
use super::timer::TimerKind;
use super::usart::UsartLayout;

mod f1;
mod f4;
mod f7;
mod h7;
mod l0;
mod stubs;

/// A chip of one of the boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chip {
    /// STM32L053R8.
    L053,
    /// STM32L073RZ.
    L073,
    /// STM32F103RB.
    F103,
    /// STM32F407IG.
    F407,
    /// STM32F411CE.
    F411,
    /// STM32F446RE.
    F446,
    /// STM32F767ZI.
    F767,
    /// STM32H743ZI.
    H743,
}

impl Chip {
    /// All chips.
    pub const ALL: [Chip; 8] =
        [Chip::L053, Chip::L073, Chip::F103, Chip::F407, Chip::F411, Chip::F446, Chip::F767, Chip::H743];

    /// Returns the chip with a name as in a board's `chip` entry: any spelling that starts with the series, such as
    /// "stm32f446re".
    #[must_use]
    pub fn from_name(name: &str) -> Option<Chip> {
        let name = name.to_ascii_lowercase();
        Self::ALL.into_iter().find(|chip| name.starts_with(&format!("stm32{:?}", chip).to_ascii_lowercase()))
    }
}

/// The kind of block that a row of a chip's table describes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Device {
    Rcc,
    Flash,
    Pwr,
    Syscfg,
    Exti,
    /// Port, 0 = A.
    Gpio(u8),
    /// Number and kernel clock multiplexer. `None`: the bus clock.
    Usart(u8, Option<(u32, u32)>),
    Lpuart(Option<(u32, u32)>),
    Timer(TimerKind),
    Spi(SpiLayout),
    /// Bytes of a FIFO and kernel clock.
    SpiH7(usize, KernelClock),
    Adc(AdcLayout),
    AdcV4(AdcV4Layout),
    I2cV1,
    /// Kernel clock multiplexer. `None`: the bus clock.
    I2cV2(Option<(u32, u32)>),
    Iwdg,
    Wwdg,
    Rtc,
    RtcF1,
    /// Backup registers of the F1.
    Backup,
    Rng,
    Crc,
    Dma,
    /// DMAMUX1 (H7).
    DmaMux,
    Dbgmcu,
    /// Registers that only store: bytes, differing registers, and whether setting it up deserves a warning.
    File(u32, &'static [FixedRegisters], bool),
}

const ADVANCED: TimerKind = TimerKind { channels: 4, wide: false, advanced: true, remap: false };
const GENERAL: TimerKind = TimerKind { advanced: false, ..ADVANCED };
const WIDE: TimerKind = TimerKind { wide: true, ..GENERAL };
const TWO: TimerKind = TimerKind { channels: 2, ..GENERAL };
const ONE: TimerKind = TimerKind { channels: 1, ..GENERAL };
const BASIC: TimerKind = TimerKind { channels: 0, ..GENERAL };
const TWO_REPEATING: TimerKind = TimerKind { advanced: true, ..TWO };
const ONE_REPEATING: TimerKind = TimerKind { advanced: true, ..ONE };

/// The position of a block's clock enable bit: register offset in RCC, and bit. `None`: the block's clock is always on.
pub(super) type Gate = Option<(u32, u32)>;
/// No enable bit.
const NONE: Gate = None;

/// Returns the description of a clock gate: the offset and bit of its enable in RCC.
const fn clock_gate(offset: u32, bit: u32) -> Gate {
    Some((offset, bit))
}

/// A row of a family's table: one block, with its address, bus, clock gate and interrupts.
#[derive(Debug)]
pub(super) struct Row {
    pub name: &'static str,
    pub base: u32,
    pub device: Device,
    pub bus: Bus,
    pub gate: Gate,
    /// Interrupt outputs (mask) and the NVIC line they reach.
    pub irqs: &'static [(u32, u8)],
    /// Chips that have it, as a set.
    pub chips: u8,
}

/// Returns a row of the table of blocks, for all chips of the family.
const fn block_row(
    name: &'static str,
    base: u32,
    device: Device,
    bus: Bus,
    gate: Gate,
    irqs: &'static [(u32, u8)],
) -> Row {
    Row { name, base, device, bus, gate, irqs, chips: 0xff }
}

impl Row {
    /// Returns the row for some chips of the family only, with a bit for each in `chips`.
    const fn for_chips(self, chips: u8) -> Row {
        Row { chips, ..self }
    }
}

const L073: u8 = 1 << Chip::L073 as u8;
const F407: u8 = 1 << Chip::F407 as u8;
const F411: u8 = 1 << Chip::F411 as u8;
const F446: u8 = 1 << Chip::F446 as u8;

/// The properties of a chip, besides its rows in the table of blocks.
#[derive(Debug)]
pub(super) struct Spec {
    pub chip: Chip,
    pub rows: &'static [Row],
    pub rcc: &'static rcc::Spec,
    pub flash: &'static flash::Spec,
    pub flash_bytes: u32,
    pub pwr: PwrKind,
    pub syscfg: SyscfgKind,
    pub exti: ExtiLayout,
    /// IMR after reset.
    pub exti_masks: [u32; 3],
    pub gpio: GpioLayout,
    /// MODER, OSPEEDR and PUPDR of ports A, B and the others.
    pub gpio_resets: [GpioReset; 3],
    pub usart: UsartLayout,
    pub dbgmcu: &'static [FixedRegisters],
    /// Unique identifier, flash size register.
    pub uid: u32,
    pub flash_size: u32,
    /// Timers have CR1.UIFREMAP (F7, H7).
    pub uif_remap: bool,
    /// Programmable CRC unit and a window in the independent watchdog (L0, F7, H7).
    pub window_and_crc: bool,
    /// NVIC lines.
    pub irq_lines: u16,
}

const F4_PINS: [GpioReset; 3] = [(0xa800_0000, 0, 0x6400_0000), (0x280, 0xc0, 0x100), (0, 0, 0)];
const F7_PINS: [GpioReset; 3] = [(0xa800_0000, 0x0c00_0000, 0x6400_0000), (0x280, 0xc0, 0x100), (0, 0, 0)];
const L0_PINS: [GpioReset; 3] = [(0xebff_fcff, 0x0c00_0000, 0x2400_0000), (u32::MAX, 0, 0), (u32::MAX, 0, 0)];
const H7_PINS: [GpioReset; 3] = [(0xabff_ffff, 0x0c00_0000, 0x6400_0000), (0xffff_febf, 0xc0, 0x100), (u32::MAX, 0, 0)];
const F4_USART: UsartLayout = UsartLayout::V1 { over8: true };

const F446_SPEC: Spec = Spec {
    chip: Chip::F446,
    rows: f4::ROWS,
    rcc: &rcc::F4,
    flash: &flash::F4,
    flash_bytes: 512 * 1024,
    pwr: PwrKind::OverDrive,
    syscfg: SyscfgKind::Memrmp,
    exti: ExtiLayout::Flat(23),
    exti_masks: [0; 3],
    gpio: GpioLayout::V2,
    gpio_resets: F4_PINS,
    usart: F4_USART,
    dbgmcu: &[fixed_register(0, 0x1000_6421, 0)],
    uid: 0x1fff_7a10,
    flash_size: 0x1fff_7a22,
    uif_remap: false,
    window_and_crc: false,
    irq_lines: 97,
};

const L073_SPEC: Spec = Spec {
    chip: Chip::L073,
    rows: l0::ROWS,
    rcc: &rcc::L0,
    flash: &flash::L0,
    flash_bytes: 192 * 1024,
    pwr: PwrKind::L0,
    syscfg: SyscfgKind::L0,
    exti: ExtiLayout::Flat(30),
    exti_masks: [0x3f84_0000, 0, 0],
    gpio: GpioLayout::V2Brr,
    gpio_resets: L0_PINS,
    usart: UsartLayout::V2 { fifo: false, low_power: false },
    dbgmcu: &[fixed_register(0, 0x2008_6447, 0)],
    uid: 0x1ff8_0050,
    flash_size: 0x1ff8_007c,
    uif_remap: false,
    window_and_crc: true,
    irq_lines: 32,
};

static SPECS: [Spec; 8] = [
    Spec { chip: Chip::L053, flash_bytes: 64 * 1024, dbgmcu: &[fixed_register(0, 0x1008_6417, 0)], ..L073_SPEC },
    L073_SPEC,
    Spec {
        chip: Chip::F103,
        rows: f1::ROWS,
        rcc: &rcc::F1,
        flash: &flash::F1,
        flash_bytes: 128 * 1024,
        pwr: PwrKind::F1,
        syscfg: SyscfgKind::Afio,
        exti: ExtiLayout::Flat(20),
        exti_masks: [0; 3],
        gpio: GpioLayout::F1,
        gpio_resets: [(0, 0, 0); 3],
        usart: UsartLayout::V1 { over8: false },
        dbgmcu: &[fixed_register(0, 0x2003_6410, 0)],
        uid: 0x1fff_f7e8,
        flash_size: 0x1fff_f7e0,
        uif_remap: false,
        window_and_crc: false,
        irq_lines: 43,
    },
    Spec {
        chip: Chip::F407,
        rcc: &rcc::F407,
        flash_bytes: 1024 * 1024,
        pwr: PwrKind::F4(0x4000),
        dbgmcu: &[fixed_register(0, 0x1007_6413, 0)],
        irq_lines: 82,
        ..F446_SPEC
    },
    Spec {
        chip: Chip::F411,
        rcc: &rcc::F411,
        pwr: PwrKind::F4(0x8000),
        dbgmcu: &[fixed_register(0, 0x1000_6431, 0)],
        irq_lines: 86,
        ..F446_SPEC
    },
    F446_SPEC,
    Spec {
        chip: Chip::F767,
        rows: f7::ROWS,
        rcc: &rcc::F7,
        flash: &flash::F7,
        flash_bytes: 2048 * 1024,
        exti: ExtiLayout::Flat(25),
        gpio: GpioLayout::V2Brr,
        gpio_resets: F7_PINS,
        usart: UsartLayout::V2 { fifo: false, low_power: false },
        dbgmcu: &[fixed_register(0, 0x1001_6451, 0)],
        uid: 0x1ff0_f420,
        flash_size: 0x1ff0_f442,
        uif_remap: true,
        window_and_crc: true,
        irq_lines: 110,
        ..F446_SPEC
    },
    Spec {
        chip: Chip::H743,
        rows: h7::ROWS,
        rcc: &rcc::H7,
        flash: &flash::H7,
        flash_bytes: 2048 * 1024,
        pwr: PwrKind::H7,
        syscfg: SyscfgKind::H7,
        exti: ExtiLayout::H7,
        exti_masks: [0xffc0_0000, 0xfff5_ffff, 0x018b_ffff],
        gpio: GpioLayout::V2,
        gpio_resets: H7_PINS,
        usart: UsartLayout::V2 { fifo: true, low_power: false },
        // Revision V.
        dbgmcu: &[fixed_register(0, 0x2003_6450, 0)],
        uid: 0x1ff1_e800,
        flash_size: 0x1ff1_e880,
        uif_remap: true,
        window_and_crc: true,
        irq_lines: 150,
    },
];

impl Chip {
    /// Returns whether the chip has this GPIO port. Port 0 is A.
    #[must_use]
    pub fn has_gpio_port(self, port: u8) -> bool {
        self.spec().rows().any(|row| matches!(row.device, Device::Gpio(own) if own == port))
    }

    /// Returns the chip's table.
    pub(super) fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }
}

impl Spec {
    /// Returns the rows of the table of blocks for this chip.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> + use<> {
        let chip = 1u8 << self.chip as u8;
        self.rows.iter().filter(move |row| row.chips & chip != 0)
    }
}

#[cfg(test)]
mod tests;
