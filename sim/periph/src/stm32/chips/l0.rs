//! Blocks of the L053 and L073 (RM0367: memory map, vector table, RCC enable registers).

use super::Device::*;
use super::stubs::{CRS, STUB};
use super::{BASIC, GENERAL, L073, NONE, Row, TWO, block_row, clock_gate};
use crate::stm32::adc_v4::AdcV4Layout;
use crate::stm32::clocks::Bus::*;
use crate::stm32::spi::SpiLayout;

/// Blocks of the family, by address.
pub(in crate::stm32) static ROWS: &[Row] = &[
    block_row("TIM2", 0x4000_0000, Timer(GENERAL), Apb1, clock_gate(0x38, 0), &[(0xf, 15)]),
    block_row("TIM3", 0x4000_0400, Timer(GENERAL), Apb1, clock_gate(0x38, 1), &[(0xf, 16)]).for_chips(L073),
    block_row("TIM6", 0x4000_1000, Timer(BASIC), Apb1, clock_gate(0x38, 4), &[(0xf, 17)]),
    block_row("TIM7", 0x4000_1400, Timer(BASIC), Apb1, clock_gate(0x38, 5), &[(0xf, 18)]).for_chips(L073),
    block_row("LCD", 0x4000_2400, STUB, Apb1, clock_gate(0x38, 9), &[]),
    block_row("RTC", 0x4000_2800, Rtc, Apb1, NONE, &[]),
    block_row("WWDG", 0x4000_2c00, Wwdg, Apb1, clock_gate(0x38, 11), &[(0x1, 0)]),
    block_row("IWDG", 0x4000_3000, Iwdg, Apb1, NONE, &[]),
    block_row("SPI2", 0x4000_3800, Spi(SpiLayout::Buffer), Apb1, clock_gate(0x38, 14), &[(0x1, 26)]),
    block_row("USART2", 0x4000_4400, Usart(2, Some((0x4c, 2))), Apb1, clock_gate(0x38, 17), &[(0x1, 28)]),
    block_row("LPUART1", 0x4000_4800, Lpuart(Some((0x4c, 10))), Apb1, clock_gate(0x38, 18), &[(0x1, 29)]),
    block_row("USART4", 0x4000_4c00, Usart(4, None), Apb1, clock_gate(0x38, 19), &[(0x1, 14)]).for_chips(L073),
    block_row("USART5", 0x4000_5000, Usart(5, None), Apb1, clock_gate(0x38, 20), &[(0x1, 14)]).for_chips(L073),
    block_row("I2C1", 0x4000_5400, I2cV2(Some((0x4c, 12))), Apb1, clock_gate(0x38, 21), &[(0x3, 23)]),
    block_row("I2C2", 0x4000_5800, I2cV2(None), Apb1, clock_gate(0x38, 22), &[(0x3, 24)]),
    block_row("USB", 0x4000_5c00, STUB, Apb1, clock_gate(0x38, 23), &[]),
    block_row("USBRAM", 0x4000_6000, STUB, Apb1, NONE, &[]),
    block_row("CRS", 0x4000_6c00, CRS, Apb1, clock_gate(0x38, 27), &[]),
    block_row("PWR", 0x4000_7000, Pwr, Apb1, clock_gate(0x38, 28), &[]),
    block_row("DAC1", 0x4000_7400, STUB, Apb1, clock_gate(0x38, 29), &[]),
    block_row("I2C3", 0x4000_7800, I2cV2(Some((0x4c, 16))), Apb1, clock_gate(0x38, 30), &[(0x3, 21)]).for_chips(L073),
    block_row("LPTIM1", 0x4000_7c00, STUB, Apb1, clock_gate(0x38, 31), &[]),
    block_row("SYSCFG", 0x4001_0000, Syscfg, Apb2, clock_gate(0x34, 0), &[]),
    block_row("EXTI", 0x4001_0400, Exti, Apb2, NONE, &[(0x3, 5), (0xc, 6), (0xfff0, 7)]),
    block_row("TIM21", 0x4001_0800, Timer(TWO), Apb2, clock_gate(0x34, 2), &[(0xf, 20)]),
    block_row("TIM22", 0x4001_1400, Timer(TWO), Apb2, clock_gate(0x34, 5), &[(0xf, 22)]),
    block_row("ADC1", 0x4001_2400, AdcV4(AdcV4Layout::L0), Apb2, clock_gate(0x34, 9), &[(0x1, 12)]),
    block_row("SPI1", 0x4001_3000, Spi(SpiLayout::Buffer), Apb2, clock_gate(0x34, 12), &[(0x1, 25)]),
    block_row("USART1", 0x4001_3800, Usart(1, Some((0x4c, 0))), Apb2, clock_gate(0x34, 14), &[(0x1, 27)]),
    block_row("DBGMCU", 0x4001_5800, Dbgmcu, Apb2, NONE, &[]),
    block_row("DMA1", 0x4002_0000, Dma, Ahb1, clock_gate(0x30, 0), &[(0x1, 9), (0x6, 10), (0x78, 11)]),
    block_row("RCC", 0x4002_1000, Rcc, Ahb1, NONE, &[(0x1, 4)]),
    block_row("FLASH", 0x4002_2000, Flash, Ahb1, NONE, &[(0x1, 3)]),
    block_row("CRC", 0x4002_3000, Crc, Ahb1, clock_gate(0x30, 12), &[]),
    block_row("TSC", 0x4002_4000, STUB, Ahb1, clock_gate(0x30, 16), &[]),
    block_row("RNG", 0x4002_5000, Rng, Ahb1, clock_gate(0x30, 20), &[(0x1, 29)]),
    block_row("GPIOA", 0x5000_0000, Gpio(0), IoPort, clock_gate(0x2c, 0), &[]),
    block_row("GPIOB", 0x5000_0400, Gpio(1), IoPort, clock_gate(0x2c, 1), &[]),
    block_row("GPIOC", 0x5000_0800, Gpio(2), IoPort, clock_gate(0x2c, 2), &[]),
    block_row("GPIOD", 0x5000_0c00, Gpio(3), IoPort, clock_gate(0x2c, 3), &[]),
    block_row("GPIOE", 0x5000_1000, Gpio(4), IoPort, clock_gate(0x2c, 4), &[]).for_chips(L073),
    block_row("GPIOH", 0x5000_1c00, Gpio(7), IoPort, clock_gate(0x2c, 7), &[]),
];
