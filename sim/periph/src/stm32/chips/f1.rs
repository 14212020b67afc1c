//! Blocks of the F103xB (RM0008: memory map, vector table, RCC enable registers).

use super::Device::*;
use super::stubs::STUB;
use super::{ADVANCED, GENERAL, NONE, Row, block_row, clock_gate};
use crate::stm32::adc::AdcLayout;
use crate::stm32::clocks::Bus::*;
use crate::stm32::spi::SpiLayout;

/// Blocks of the family, by address.
pub(in crate::stm32) static ROWS: &[Row] = &[
    block_row("TIM2", 0x4000_0000, Timer(GENERAL), Apb1, clock_gate(0x1c, 0), &[(0xf, 28)]),
    block_row("TIM3", 0x4000_0400, Timer(GENERAL), Apb1, clock_gate(0x1c, 1), &[(0xf, 29)]),
    block_row("TIM4", 0x4000_0800, Timer(GENERAL), Apb1, clock_gate(0x1c, 2), &[(0xf, 30)]),
    block_row("RTC", 0x4000_2800, RtcF1, Apb1, NONE, &[(0x1, 3)]),
    block_row("WWDG", 0x4000_2c00, Wwdg, Apb1, clock_gate(0x1c, 11), &[(0x1, 0)]),
    block_row("IWDG", 0x4000_3000, Iwdg, Apb1, NONE, &[]),
    block_row("SPI2", 0x4000_3800, Spi(SpiLayout::Buffer), Apb1, clock_gate(0x1c, 14), &[(0x1, 36)]),
    block_row("USART2", 0x4000_4400, Usart(2, None), Apb1, clock_gate(0x1c, 17), &[(0x1, 38)]),
    block_row("USART3", 0x4000_4800, Usart(3, None), Apb1, clock_gate(0x1c, 18), &[(0x1, 39)]),
    block_row("I2C1", 0x4000_5400, I2cV1, Apb1, clock_gate(0x1c, 21), &[(0x1, 31), (0x2, 32)]),
    block_row("I2C2", 0x4000_5800, I2cV1, Apb1, clock_gate(0x1c, 22), &[(0x1, 33), (0x2, 34)]),
    block_row("USB", 0x4000_5c00, STUB, Apb1, clock_gate(0x1c, 23), &[]),
    block_row("USBRAM", 0x4000_6000, STUB, Apb1, NONE, &[]),
    block_row("CAN", 0x4000_6400, STUB, Apb1, clock_gate(0x1c, 25), &[]),
    block_row("BKP", 0x4000_6c00, Backup, Apb1, clock_gate(0x1c, 27), &[]),
    block_row("PWR", 0x4000_7000, Pwr, Apb1, clock_gate(0x1c, 28), &[]),
    block_row("AFIO", 0x4001_0000, Syscfg, Apb2, clock_gate(0x18, 0), &[]),
    block_row(
        "EXTI",
        0x4001_0400,
        Exti,
        Apb2,
        NONE,
        &[(0x1, 6), (0x2, 7), (0x4, 8), (0x8, 9), (0x10, 10), (0x3e0, 23), (0xfc00, 40)],
    ),
    block_row("GPIOA", 0x4001_0800, Gpio(0), Apb2, clock_gate(0x18, 2), &[]),
    block_row("GPIOB", 0x4001_0c00, Gpio(1), Apb2, clock_gate(0x18, 3), &[]),
    block_row("GPIOC", 0x4001_1000, Gpio(2), Apb2, clock_gate(0x18, 4), &[]),
    block_row("GPIOD", 0x4001_1400, Gpio(3), Apb2, clock_gate(0x18, 5), &[]),
    block_row("GPIOE", 0x4001_1800, Gpio(4), Apb2, clock_gate(0x18, 6), &[]),
    block_row("ADC1", 0x4001_2400, Adc(AdcLayout::F1), Apb2, clock_gate(0x18, 9), &[(0x1, 18)]),
    block_row("ADC2", 0x4001_2800, Adc(AdcLayout::F1), Apb2, clock_gate(0x18, 10), &[(0x1, 18)]),
    block_row(
        "TIM1",
        0x4001_2c00,
        Timer(ADVANCED),
        Apb2,
        clock_gate(0x18, 11),
        &[(0x1, 24), (0x2, 25), (0x4, 26), (0x8, 27)],
    ),
    block_row("SPI1", 0x4001_3000, Spi(SpiLayout::Buffer), Apb2, clock_gate(0x18, 12), &[(0x1, 35)]),
    block_row("USART1", 0x4001_3800, Usart(1, None), Apb2, clock_gate(0x18, 14), &[(0x1, 37)]),
    block_row(
        "DMA1",
        0x4002_0000,
        Dma,
        Ahb1,
        clock_gate(0x14, 0),
        &[(0x1, 11), (0x2, 12), (0x4, 13), (0x8, 14), (0x10, 15), (0x20, 16), (0x40, 17)],
    ),
    block_row("RCC", 0x4002_1000, Rcc, Ahb1, NONE, &[(0x1, 5)]),
    block_row("FLASH", 0x4002_2000, Flash, Ahb1, clock_gate(0x14, 4), &[(0x1, 4)]),
    block_row("CRC", 0x4002_3000, Crc, Ahb1, clock_gate(0x14, 6), &[]),
    block_row("DBGMCU", 0xe004_2000, Dbgmcu, Ppb, NONE, &[]),
];
