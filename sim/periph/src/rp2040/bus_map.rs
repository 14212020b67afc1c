//! Which block an address belongs to (RP2040 data sheet 2.2).

use super::reset_bit as bit;

/// A memory-mapped block of the RP2040.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the data sheet's block names")]
pub enum Block {
    XipCtrl,
    Ssi,
    Sysinfo,
    Syscfg,
    Clocks,
    Resets,
    Psm,
    IoBank0,
    IoQspi,
    PadsBank0,
    PadsQspi,
    Xosc,
    PllSys,
    PllUsb,
    Busctrl,
    Uart0,
    Uart1,
    Spi0,
    Spi1,
    I2c0,
    I2c1,
    Adc,
    Pwm,
    Timer,
    Watchdog,
    Rtc,
    Rosc,
    Vreg,
    Tbman,
    Dma,
    UsbDpram,
    Usb,
    Pio0,
    Pio1,
    XipAux,
}

/// Returns the block at `address`, aliases included, or `None` where nothing answers.
#[inline]
#[must_use]
pub fn peripheral_block_at_address(address: u32) -> Option<Block> {
    use Block::*;
    // Every block has 16 kB: 4 kB of registers and three aliases of them.
    let block = match address >> 14 {
        0x5000 => XipCtrl,
        0x6000 => Ssi,
        0x1_0000 => Sysinfo,
        0x1_0001 => Syscfg,
        0x1_0002 => Clocks,
        0x1_0003 => Resets,
        0x1_0004 => Psm,
        0x1_0005 => IoBank0,
        0x1_0006 => IoQspi,
        0x1_0007 => PadsBank0,
        0x1_0008 => PadsQspi,
        0x1_0009 => Xosc,
        0x1_000a => PllSys,
        0x1_000b => PllUsb,
        0x1_000c => Busctrl,
        0x1_000d => Uart0,
        0x1_000e => Uart1,
        0x1_000f => Spi0,
        0x1_0010 => Spi1,
        0x1_0011 => I2c0,
        0x1_0012 => I2c1,
        0x1_0013 => Adc,
        0x1_0014 => Pwm,
        0x1_0015 => Timer,
        0x1_0016 => Watchdog,
        0x1_0017 => Rtc,
        0x1_0018 => Rosc,
        0x1_0019 => Vreg,
        0x1_001b => Tbman,
        0x1_4000 => Dma,
        0x1_4040 => UsbDpram,
        0x1_4044 => Usb,
        0x1_4080 => Pio0,
        0x1_40c0 => Pio1,
        0x1_4100 => XipAux,
        _ => return None,
    };
    Some(block)
}

impl Block {
    /// Returns the data sheet's name of the block, for warnings.
    #[must_use]
    pub fn data_sheet_name(self) -> &'static str {
        use Block::*;
        match self {
            XipCtrl => "XIP_CTRL",
            Ssi => "SSI",
            Sysinfo => "SYSINFO",
            Syscfg => "SYSCFG",
            Clocks => "CLOCKS",
            Resets => "RESETS",
            Psm => "PSM",
            IoBank0 => "IO_BANK0",
            IoQspi => "IO_QSPI",
            PadsBank0 => "PADS_BANK0",
            PadsQspi => "PADS_QSPI",
            Xosc => "XOSC",
            PllSys => "PLL_SYS",
            PllUsb => "PLL_USB",
            Busctrl => "BUSCTRL",
            Uart0 => "UART0",
            Uart1 => "UART1",
            Spi0 => "SPI0",
            Spi1 => "SPI1",
            I2c0 => "I2C0",
            I2c1 => "I2C1",
            Adc => "ADC",
            Pwm => "PWM",
            Timer => "TIMER",
            Watchdog => "WATCHDOG",
            Rtc => "RTC",
            Rosc => "ROSC",
            Vreg => "VREG_AND_CHIP_RESET",
            Tbman => "TBMAN",
            Dma => "DMA",
            UsbDpram => "USB_DPRAM",
            Usb => "USBCTRL",
            Pio0 => "PIO0",
            Pio1 => "PIO1",
            XipAux => "XIP_AUX",
        }
    }

    /// Returns the RESETS bit that resets the block, or `None` for blocks outside RESETS.
    #[inline]
    #[must_use]
    pub fn reset_bit(self) -> Option<u32> {
        use Block::*;
        Some(match self {
            Adc => bit::ADC,
            Busctrl => bit::BUSCTRL,
            Dma => bit::DMA,
            I2c0 => bit::I2C0,
            I2c1 => bit::I2C1,
            IoBank0 => bit::IO_BANK0,
            IoQspi => bit::IO_QSPI,
            PadsBank0 => bit::PADS_BANK0,
            PadsQspi => bit::PADS_QSPI,
            Pio0 => bit::PIO0,
            Pio1 => bit::PIO1,
            PllSys => bit::PLL_SYS,
            PllUsb => bit::PLL_USB,
            Pwm => bit::PWM,
            Rtc => bit::RTC,
            Spi0 => bit::SPI0,
            Spi1 => bit::SPI1,
            Syscfg => bit::SYSCFG,
            Sysinfo => bit::SYSINFO,
            Tbman => bit::TBMAN,
            Timer => bit::TIMER,
            Uart0 => bit::UART0,
            Uart1 => bit::UART1,
            Usb | UsbDpram => bit::USBCTRL,
            _ => return None,
        })
    }
}

/// Returns whether an access through an atomic alias costs two more cycles: blocks on the bus interposer (data sheet
/// 2.1.2: UART, I2C, SPI, SSI). The plain address never does.
#[inline]
#[must_use]
pub fn has_slow_atomic_alias(address: u32) -> bool {
    use Block::*;
    address >> 12 & 3 != 0
        && matches!(peripheral_block_at_address(address), Some(Uart0 | Uart1 | Spi0 | Spi1 | I2c0 | I2c1 | Ssi))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_map_to_known_peripherals() {
        for (address, name) in [
            (0x1400_0000, "XIP_CTRL"),
            (0x1800_0060, "SSI"),
            (0x4000_0000, "SYSINFO"),
            (0x4000_c008, "RESETS"),
            (0x4003_4000, "UART0"),
            (0x4003_b048, "UART1"),
            (0x4005_4028, "TIMER"),
            (0x4006_c000, "TBMAN"),
            (0x5000_0000, "DMA"),
            (0x5010_0000, "USB_DPRAM"),
            (0x5011_204c, "USBCTRL"),
            (0x5030_0000, "PIO1"),
        ] {
            assert_eq!(peripheral_block_at_address(address).map(Block::data_sheet_name), Some(name), "{address:#x}");
        }
        for address in [0x4006_8000, 0x4007_0000, 0x5040_4000, 0x1400_4000, 0x2000_0000] {
            assert_eq!(peripheral_block_at_address(address), None, "{address:#x}");
        }
    }

    #[test]
    fn only_interposed_blocks_pay_for_an_alias() {
        assert!(has_slow_atomic_alias(0x4003_6000));
        assert!(has_slow_atomic_alias(0x1800_1000));
        assert!(!has_slow_atomic_alias(0x4003_4000));
        assert!(!has_slow_atomic_alias(0x4000_f000));
    }
}
