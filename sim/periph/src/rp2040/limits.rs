//! The unsupported requests to registers of modelled blocks: one row each. Touching it warns once and ends a run under
//! `strict`. docs/virtual-pico.md holds the same sentences, and tests go through all rows.

use super::Block;

/// The kind of an access to a register: read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterAccessKind {
    /// It is read.
    Read,
    /// It is written, with the value that an alias makes of it.
    Write,
}

/// A feature that an access to a register requests and that is not modelled.
#[derive(Debug)]
pub struct Limit {
    /// Blocks concerned.
    pub blocks: &'static [Block],
    touch: RegisterAccessKind,
    /// Whether an access to this offset with this value asks for it.
    asks: fn(offset: u32, value: u32) -> bool,
    /// The missing effect, as a sentence without its stop.
    pub about: &'static str,
    /// Accesses that ask for it, the last one first of all: address, and the value if it is a write.
    pub example: &'static [(u32, Option<u32>)],
}

/// Creates a row for writes that request something unsupported.
const fn row_for_unsupported_write(
    blocks: &'static [Block],
    asks: fn(u32, u32) -> bool,
    about: &'static str,
    example: &'static [(u32, Option<u32>)],
) -> Limit {
    Limit { blocks, touch: RegisterAccessKind::Write, asks, about, example }
}

/// Creates a row for reads that request something unsupported.
const fn row_for_unsupported_read(
    blocks: &'static [Block],
    asks: fn(u32, u32) -> bool,
    about: &'static str,
    example: &'static [(u32, Option<u32>)],
) -> Limit {
    Limit { blocks, touch: RegisterAccessKind::Read, asks, about, example }
}

/// Returns whether a TREQ number is one that something raises: PIO, SPI, UART, I2C and ADC, the pacing timers,
/// permanent.
fn is_modelled_dma_request_number(treq: u32) -> bool {
    matches!(treq, 0..=23 | 32..=36 | 0x3b..=0x3f)
}

/// Returns whether an offset is that of a DMA channel's control register.
fn is_dma_channel_control(offset: u32) -> bool {
    offset < 0x300 && matches!(offset & 0x3f, 0x0c | 0x10 | 0x20 | 0x30)
}

/// Returns whether the outputs of a pin function do not reach the pin: all but UART, PWM, SIO, PIO and none.
fn is_pin_function_unmodelled(function: u32) -> bool {
    !matches!(function, 2 | 4..=7 | 31)
}

/// Supply voltage at reset, 1.10 V, with the regulator on.
const VREG_RESET: u32 = 0xb1;

/// Raw erase and program commands to the flash. The SSI finds them itself.
pub static RAW_FLASH: Limit = row_for_unsupported_write(
    &[Block::Ssi],
    |_, _| false,
    "SSI: erasing and programming by raw commands takes no time",
    &[
        (0x1800_0008, Some(0)),
        (0x1800_0000, Some(7 << 16)),
        (0x1800_0008, Some(1)),
        (0x1800_0060, Some(0x06)),
        (0x1800_0028, None),
        (0x1800_0060, Some(0xc7)),
        (0x1800_0028, None),
    ],
);

/// A new TOP of a slice that counts. The block finds it itself.
pub static TOP_AT_ONCE: Limit = row_for_unsupported_write(
    &[Block::Pwm],
    |_, _| false,
    "PWM: a new TOP takes effect immediately instead of at the next wrap",
    &[(0x4005_0000, Some(1)), (0x4005_0010, Some(99))],
);

/// A counter of the XIP cache that was read before one was cleared. The block finds it itself.
pub static COUNTED_LATER: Limit = row_for_unsupported_read(
    &[Block::XipCtrl],
    |_, _| false,
    "XIP_CTRL: the hit and access counters start counting at the first write to one of them",
    &[(0x1400_000c, None)],
);

/// Rows that blocks find by themselves.
pub static FOUND_BY_BLOCKS: [&Limit; 3] = [&RAW_FLASH, &TOP_AT_ONCE, &COUNTED_LATER];

use Block::*;

/// Every other row.
pub static LIMITS: &[Limit] = &[
    row_for_unsupported_write(
        &[XipCtrl],
        |at, value| at == 0 && value & 8 != 0,
        "XIP_CTRL: POWER_DOWN has no effect",
        &[(0x1400_0000, Some(8))],
    ),
    row_for_unsupported_write(
        &[XipCtrl],
        |at, value| at == 0x18 && value != 0,
        "XIP_CTRL: streaming is not modelled and delivers no data",
        &[(0x1400_0018, Some(4))],
    ),
    row_for_unsupported_write(
        &[Ssi],
        |at, value| at == 0x2c && value & 0x3f != 0,
        "SSI: interrupts are not modelled",
        &[(0x1800_002c, Some(0x10))],
    ),
    row_for_unsupported_write(
        &[Ssi],
        |at, value| at == 0x4c && value & 3 != 0,
        "SSI: DMA requests are not modelled",
        &[(0x1800_004c, Some(1))],
    ),
    row_for_unsupported_write(
        &[Syscfg],
        |at, value| at < 8 && value != 0,
        "SYSCFG: the NMI mask has no effect, so no interrupt causes an NMI",
        &[(0x4000_4000, Some(1))],
    ),
    row_for_unsupported_write(
        &[Syscfg],
        |at, value| matches!(at, 0x0c | 0x10 | 0x18) && value != 0,
        "SYSCFG: bypassing synchronisers and powering down memories has no effect",
        &[(0x4000_4018, Some(1))],
    ),
    row_for_unsupported_write(
        &[Syscfg],
        |at, value| at == 0x14 && value & 0x88 != 0,
        "SYSCFG: the control of the debug ports has no effect",
        &[(0x4000_4014, Some(8))],
    ),
    row_for_unsupported_write(
        &[Clocks],
        |at, value| matches!(at, 0x00 | 0x0c | 0x18 | 0x24) && value & 0x800 != 0,
        "CLOCKS: the GPOUT clock outputs are not modelled, so they drive no pin",
        &[(0x4000_8000, Some(0x800))],
    ),
    row_for_unsupported_write(
        &[Clocks],
        // REF, SYS, PERI, then USB, ADC and RTC.
        |at, value| match at {
            0x30 => value & 3 == 1 && value >> 5 & 3 != 0,
            0x3c => value & 1 != 0 && value >> 5 & 7 >= 4,
            0x48 => value & 0x800 != 0 && value >> 5 & 7 >= 5,
            0x54 | 0x60 | 0x6c => value & 0x800 != 0 && value >> 5 & 7 >= 4,
            0x94 => matches!(value & 0xff, 6 | 7),
            _ => false,
        },
        "CLOCKS: the GPIN0 and GPIN1 clock inputs are not modelled",
        &[(0x4000_8048, Some(0x8a0))],
    ),
    row_for_unsupported_write(
        &[Clocks],
        |at, value| match at {
            0xa0 | 0xa8 => value != u32::MAX,
            0xa4 | 0xac => value & 0x7fff != 0x7fff,
            _ => false,
        },
        "CLOCKS: WAKE_EN and SLEEP_EN have no effect, so all clocks keep running",
        &[(0x4000_80a8, Some(0))],
    ),
    row_for_unsupported_write(
        &[Xosc, Rosc],
        |at, value| value == 0x636f_6d61 && matches!(at, 0x08 | 0x0c),
        "XOSC, ROSC: DORMANT has no effect, so the oscillator keeps running",
        &[(0x4002_4008, Some(0x636f_6d61))],
    ),
    row_for_unsupported_write(
        &[Rosc],
        |at, value| matches!(at, 4 | 8) && value & 0x7777 != 0 || at == 0 && value & 0xfff != 0xaa0,
        "ROSC: drive strengths and the frequency range have no effect",
        &[(0x4006_0004, Some(0x9696_0001))],
    ),
    row_for_unsupported_write(
        &[Psm],
        |at, value| at == 0 && value != 0 || at == 4 && value & 0xffff != 0,
        "PSM: only core 1 can be forced off, and other bits have no effect",
        &[(0x4001_0004, Some(1))],
    ),
    row_for_unsupported_write(
        &[Uart0, Uart1],
        |at, value| at == 0x2c && value & 1 != 0 || at == 0x30 && value & 0xc006 != 0,
        "UART: breaks, modem lines and SIR encoding are not modelled",
        &[(0x4003_402c, Some(0x71))],
    ),
    row_for_unsupported_write(
        &[IoBank0],
        |at, value| at < 0xf0 && at & 4 != 0 && is_pin_function_unmodelled(value & 0x1f),
        "IO_BANK0: only the pin functions SIO, UART, PWM and PIO are modelled",
        &[(0x4001_4004, Some(1))],
    ),
    row_for_unsupported_write(
        &[IoQspi],
        // SCLK, then SD0 to SD3. SS comes between.
        |at, value| matches!(at, 0x04 | 0x14 | 0x1c | 0x24 | 0x2c) && value != 0,
        "IO_QSPI: only the chip-select pin of the flash can be overridden",
        &[(0x4001_8004, Some(0x3000))],
    ),
    row_for_unsupported_write(
        &[Dma],
        |at, value| is_dma_channel_control(at) && value & 1 != 0 && !is_modelled_dma_request_number(value >> 15 & 0x3f),
        "DMA: requests of PWM, XIP and SSI are not modelled and never come",
        &[(0x5000_0010, Some(37 << 15 | 1))],
    ),
    row_for_unsupported_write(
        &[Dma],
        |at, value| at == 0x434 && value & 1 != 0,
        "DMA: the sniffer is not modelled and computes nothing",
        &[(0x5000_0434, Some(1))],
    ),
    row_for_unsupported_write(
        &[Pwm],
        |at, value| at < 0xa0 && at % 20 == 0 && value & 0x30 != 0,
        "PWM: counting edges or levels of an input is not modelled",
        &[(0x4005_0000, Some(0x21))],
    ),
    row_for_unsupported_write(
        &[Pwm],
        |at, value| at < 0xa0 && at % 20 == 0 && value & 0xc0 != 0,
        "PWM: changing the phase of a running slice has no effect",
        &[(0x4005_0000, Some(0x81))],
    ),
    row_for_unsupported_write(
        &[I2c0, I2c1],
        |at, value| at == 0 && value & 0x40 == 0,
        "I2C: target mode is not modelled, because no controller is connected",
        &[(0x4004_4000, Some(1))],
    ),
    row_for_unsupported_write(
        &[Spi0, Spi1],
        |at, value| at == 4 && value & 4 != 0,
        "SPI: slave mode is not modelled, because no master is connected",
        &[(0x4003_c004, Some(4))],
    ),
    row_for_unsupported_read(
        &[Busctrl],
        |at, _| matches!(at, 0x08 | 0x10 | 0x18 | 0x20),
        "BUSCTRL: the performance counters are not modelled and do not count",
        &[(0x4003_0008, None)],
    ),
    row_for_unsupported_write(
        &[Busctrl],
        |at, value| at == 0 && value & 0x1100 != 0,
        "BUSCTRL: the priority of the DMA has no effect, because its accesses never wait",
        &[(0x4003_0000, Some(0x1000))],
    ),
    row_for_unsupported_write(
        &[Vreg],
        |at, value| at == 0 && value & 0xf3 != VREG_RESET || at == 4 && value & 0xf1 != 0x91,
        "VREG_AND_CHIP_RESET: the supply voltage only decides which clock frequencies are allowed",
        &[(0x4006_4000, Some(0xd1))],
    ),
    row_for_unsupported_read(
        &[XipAux, Usb, UsbDpram],
        |_, _| true,
        "USB and the XIP stream are not modelled, and their registers only store values",
        &[(0x5010_0004, None)],
    ),
    row_for_unsupported_write(
        &[XipAux, Usb, UsbDpram],
        |_, _| true,
        "USB and the XIP stream are not modelled, and their registers only store values",
        &[(0x5011_0040, Some(1))],
    ),
];

/// Blocks whose reads have an unsupported effect, a bit each.
const READ_BLOCKS: u64 = {
    let (mut blocks, mut row) = (0, 0);
    while row < LIMITS.len() {
        let mut index = 0;
        while matches!(LIMITS[row].touch, RegisterAccessKind::Read) && index < LIMITS[row].blocks.len() {
            blocks |= 1 << LIMITS[row].blocks[index] as u64;
            index += 1;
        }
        row += 1;
    }
    blocks
};

/// Returns the row that describes an access, if it requests something unsupported.
#[must_use]
pub fn find_limit_of_unsupported_access(
    block: Block,
    touch: RegisterAccessKind,
    offset: u32,
    value: u32,
) -> Option<&'static Limit> {
    if touch == RegisterAccessKind::Read && READ_BLOCKS >> block as u64 & 1 == 0 {
        return None;
    }
    LIMITS.iter().find(|row| row.touch == touch && row.blocks.contains(&block) && (row.asks)(offset, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::peripheral_block_at_address;

    /// The page that says what the virtual Pico does not do.
    const PAGE: &str = include_str!("../../../../docs/virtual-pico.md");

    #[test]
    fn example_triggers_only_its_unsupported_row() {
        for row in LIMITS {
            for (index, &(address, value)) in row.example.iter().enumerate() {
                let touch = if value.is_some() { RegisterAccessKind::Write } else { RegisterAccessKind::Read };
                let block = peripheral_block_at_address(address).expect("a block");
                let limit = find_limit_of_unsupported_access(block, touch, address & 0xfff, value.unwrap_or(0))
                    .map(|limit| limit.about);
                let expected = (index == row.example.len() - 1).then_some(row.about);
                assert_eq!(limit, expected, "{address:#x}");
            }
        }
    }

    #[test]
    fn page_lists_every_limit() {
        for row in LIMITS.iter().chain(FOUND_BY_BLOCKS) {
            assert!(PAGE.contains(row.about), "docs/virtual-pico.md does not say: {}", row.about);
        }
    }
}
