//! The requests of peripherals to the streams: tables of the reference manuals, without the rows of blocks that are not
//! modelled, and without triggers and commutation of timers. Each row agrees with the device data that ST publishes, as
//! modm-devices and embassy's stm32-data give them, and no row of a modelled block is missing.

use Signal::{Adc, Compare, Rx, Tx, Update};

use crate::stm32::chips::Chip;

/// The event for which a peripheral requests a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm32) enum Signal {
    /// A datum can be sent.
    Tx,
    /// A datum was received.
    Rx,
    /// A conversion of the converter (from 0) is complete.
    Adc(u8),
    /// A timer's update event.
    Update,
    /// A compare match of a timer's channel (from 0).
    Compare(u8),
}

/// One request line: the controller (from 1), the stream (from 0), the selected channel or request, block, signal.
pub(in crate::stm32) type Line = (u8, u8, u8, &'static str, Signal);

/// Returns the request lines of a chip without a request multiplexer. The H7 has none.
pub(in crate::stm32) fn dma_request_lines(chip: Chip) -> impl Iterator<Item = &'static Line> {
    let (family, chip_only): (&[Line], &[Line]) = match chip {
        Chip::F103 => (F1, &[]),
        Chip::L053 | Chip::L073 => (L0, &[]),
        Chip::F407 => (F4, &[]),
        Chip::F411 => (F4, F411),
        Chip::F446 => (F4, F446),
        Chip::F767 => (F4, F767),
        Chip::H743 => (&[], &[]),
    };
    family.iter().chain(chip_only)
}

/// Returns the block and the signal of a request number of the H7's DMAMUX1. `None` if it has none.
pub(in crate::stm32) fn multiplexed_request_line(request: u32) -> Option<(&'static str, Signal)> {
    H7.iter().find(|line| u32::from(line.0) == request).map(|line| (line.1, line.2))
}

/// RM0008 table 78. Channels are counted from 0 here. All lines of a channel are joined.
static F1: &[Line] = &[
    (1, 0, 0, "ADC1", Adc(0)),
    (1, 0, 0, "TIM2", Compare(2)),
    (1, 0, 0, "TIM4", Compare(0)),
    (1, 1, 0, "SPI1", Rx),
    (1, 1, 0, "USART3", Tx),
    (1, 1, 0, "TIM1", Compare(0)),
    (1, 1, 0, "TIM2", Update),
    (1, 1, 0, "TIM3", Compare(2)),
    (1, 2, 0, "SPI1", Tx),
    (1, 2, 0, "USART3", Rx),
    (1, 2, 0, "TIM1", Compare(1)),
    (1, 2, 0, "TIM3", Compare(3)),
    (1, 2, 0, "TIM3", Update),
    (1, 3, 0, "SPI2", Rx),
    (1, 3, 0, "USART1", Tx),
    (1, 3, 0, "I2C2", Tx),
    (1, 3, 0, "TIM1", Compare(3)),
    (1, 3, 0, "TIM4", Compare(1)),
    (1, 4, 0, "SPI2", Tx),
    (1, 4, 0, "USART1", Rx),
    (1, 4, 0, "I2C2", Rx),
    (1, 4, 0, "TIM1", Update),
    (1, 4, 0, "TIM2", Compare(0)),
    (1, 4, 0, "TIM4", Compare(2)),
    (1, 5, 0, "USART2", Rx),
    (1, 5, 0, "I2C1", Tx),
    (1, 5, 0, "TIM1", Compare(2)),
    (1, 5, 0, "TIM3", Compare(0)),
    (1, 6, 0, "USART2", Tx),
    (1, 6, 0, "I2C1", Rx),
    (1, 6, 0, "TIM2", Compare(1)),
    (1, 6, 0, "TIM2", Compare(3)),
    (1, 6, 0, "TIM4", Update),
];

/// RM0367 table 51: channel from 0, code in CSELR.
static L0: &[Line] = &[
    (1, 0, 0, "ADC1", Adc(0)),
    (1, 1, 0, "ADC1", Adc(0)),
    (1, 1, 1, "SPI1", Rx),
    (1, 2, 1, "SPI1", Tx),
    (1, 3, 2, "SPI2", Rx),
    (1, 4, 2, "SPI2", Tx),
    (1, 5, 2, "SPI2", Rx),
    (1, 6, 2, "SPI2", Tx),
    (1, 1, 3, "USART1", Tx),
    (1, 2, 3, "USART1", Rx),
    (1, 3, 3, "USART1", Tx),
    (1, 4, 3, "USART1", Rx),
    (1, 3, 4, "USART2", Tx),
    (1, 4, 4, "USART2", Rx),
    (1, 5, 4, "USART2", Rx),
    (1, 6, 4, "USART2", Tx),
    (1, 1, 5, "LPUART1", Tx),
    (1, 2, 5, "LPUART1", Rx),
    (1, 5, 5, "LPUART1", Rx),
    (1, 6, 5, "LPUART1", Tx),
    (1, 1, 6, "I2C1", Tx),
    (1, 2, 6, "I2C1", Rx),
    (1, 5, 6, "I2C1", Tx),
    (1, 6, 6, "I2C1", Rx),
    (1, 3, 7, "I2C2", Tx),
    (1, 4, 7, "I2C2", Rx),
    (1, 0, 8, "TIM2", Compare(2)),
    (1, 1, 8, "TIM2", Update),
    (1, 2, 8, "TIM2", Compare(1)),
    (1, 3, 8, "TIM2", Compare(3)),
    (1, 4, 8, "TIM2", Compare(0)),
    (1, 6, 8, "TIM2", Compare(1)),
    (1, 6, 8, "TIM2", Compare(3)),
    (1, 1, 9, "TIM6", Update),
    (1, 1, 10, "TIM3", Compare(2)),
    (1, 2, 10, "TIM3", Compare(3)),
    (1, 2, 10, "TIM3", Update),
    (1, 4, 10, "TIM3", Compare(0)),
    (1, 1, 12, "USART4", Rx),
    (1, 2, 12, "USART4", Tx),
    (1, 5, 12, "USART4", Rx),
    (1, 6, 12, "USART4", Tx),
    (1, 1, 13, "USART5", Rx),
    (1, 2, 13, "USART5", Tx),
    (1, 5, 13, "USART5", Rx),
    (1, 6, 13, "USART5", Tx),
    (1, 1, 14, "I2C3", Tx),
    (1, 2, 14, "I2C3", Rx),
    (1, 3, 14, "I2C3", Tx),
    (1, 4, 14, "I2C3", Rx),
    (1, 3, 15, "TIM7", Update),
];

/// RM0090 tables 42 and 43: stream and channel. The other chips of F4 and F7 have these lines too, as far as they have
/// the blocks.
static F4: &[Line] = &[
    (1, 0, 0, "SPI3", Rx),
    (1, 2, 0, "SPI3", Rx),
    (1, 3, 0, "SPI2", Rx),
    (1, 4, 0, "SPI2", Tx),
    (1, 5, 0, "SPI3", Tx),
    (1, 7, 0, "SPI3", Tx),
    (1, 0, 1, "I2C1", Rx),
    (1, 2, 1, "TIM7", Update),
    (1, 4, 1, "TIM7", Update),
    (1, 5, 1, "I2C1", Rx),
    (1, 6, 1, "I2C1", Tx),
    (1, 7, 1, "I2C1", Tx),
    (1, 0, 2, "TIM4", Compare(0)),
    (1, 3, 2, "TIM4", Compare(1)),
    (1, 6, 2, "TIM4", Update),
    (1, 7, 2, "TIM4", Compare(2)),
    (1, 1, 3, "TIM2", Update),
    (1, 1, 3, "TIM2", Compare(2)),
    (1, 2, 3, "I2C3", Rx),
    (1, 4, 3, "I2C3", Tx),
    (1, 5, 3, "TIM2", Compare(0)),
    (1, 6, 3, "TIM2", Compare(1)),
    (1, 6, 3, "TIM2", Compare(3)),
    (1, 7, 3, "TIM2", Update),
    (1, 7, 3, "TIM2", Compare(3)),
    (1, 0, 4, "UART5", Rx),
    (1, 1, 4, "USART3", Rx),
    (1, 2, 4, "UART4", Rx),
    (1, 3, 4, "USART3", Tx),
    (1, 4, 4, "UART4", Tx),
    (1, 5, 4, "USART2", Rx),
    (1, 6, 4, "USART2", Tx),
    (1, 7, 4, "UART5", Tx),
    (1, 0, 5, "UART8", Tx),
    (1, 1, 5, "UART7", Tx),
    (1, 2, 5, "TIM3", Compare(3)),
    (1, 2, 5, "TIM3", Update),
    (1, 3, 5, "UART7", Rx),
    (1, 4, 5, "TIM3", Compare(0)),
    (1, 5, 5, "TIM3", Compare(1)),
    (1, 6, 5, "UART8", Rx),
    (1, 7, 5, "TIM3", Compare(2)),
    (1, 0, 6, "TIM5", Compare(2)),
    (1, 0, 6, "TIM5", Update),
    (1, 1, 6, "TIM5", Compare(3)),
    (1, 2, 6, "TIM5", Compare(0)),
    (1, 3, 6, "TIM5", Compare(3)),
    (1, 4, 6, "TIM5", Compare(1)),
    (1, 6, 6, "TIM5", Update),
    (1, 1, 7, "TIM6", Update),
    (1, 2, 7, "I2C2", Rx),
    (1, 3, 7, "I2C2", Rx),
    (1, 4, 7, "USART3", Tx),
    (1, 7, 7, "I2C2", Tx),
    (2, 0, 0, "ADC1", Adc(0)),
    (2, 2, 0, "TIM8", Compare(0)),
    (2, 2, 0, "TIM8", Compare(1)),
    (2, 2, 0, "TIM8", Compare(2)),
    (2, 4, 0, "ADC1", Adc(0)),
    (2, 6, 0, "TIM1", Compare(0)),
    (2, 6, 0, "TIM1", Compare(1)),
    (2, 6, 0, "TIM1", Compare(2)),
    (2, 2, 1, "ADC1", Adc(1)),
    (2, 3, 1, "ADC1", Adc(1)),
    (2, 5, 1, "SPI6", Tx),
    (2, 6, 1, "SPI6", Rx),
    (2, 0, 2, "ADC1", Adc(2)),
    (2, 1, 2, "ADC1", Adc(2)),
    (2, 3, 2, "SPI5", Rx),
    (2, 4, 2, "SPI5", Tx),
    (2, 0, 3, "SPI1", Rx),
    (2, 2, 3, "SPI1", Rx),
    (2, 3, 3, "SPI1", Tx),
    (2, 5, 3, "SPI1", Tx),
    (2, 0, 4, "SPI4", Rx),
    (2, 1, 4, "SPI4", Tx),
    (2, 2, 4, "USART1", Rx),
    (2, 5, 4, "USART1", Rx),
    (2, 7, 4, "USART1", Tx),
    (2, 1, 5, "USART6", Rx),
    (2, 2, 5, "USART6", Rx),
    (2, 3, 5, "SPI4", Rx),
    (2, 4, 5, "SPI4", Tx),
    (2, 6, 5, "USART6", Tx),
    (2, 7, 5, "USART6", Tx),
    (2, 1, 6, "TIM1", Compare(0)),
    (2, 2, 6, "TIM1", Compare(1)),
    (2, 3, 6, "TIM1", Compare(0)),
    (2, 4, 6, "TIM1", Compare(3)),
    (2, 5, 6, "TIM1", Update),
    (2, 6, 6, "TIM1", Compare(2)),
    (2, 1, 7, "TIM8", Update),
    (2, 2, 7, "TIM8", Compare(0)),
    (2, 3, 7, "TIM8", Compare(1)),
    (2, 4, 7, "TIM8", Compare(2)),
    (2, 5, 7, "SPI5", Rx),
    (2, 6, 7, "SPI5", Tx),
    (2, 7, 7, "TIM8", Compare(3)),
];

/// Further lines of the F411 (RM0383).
static F411: &[Line] = &[
    (1, 1, 0, "I2C1", Tx),
    (1, 1, 1, "I2C3", Rx),
    (1, 5, 6, "I2C3", Tx),
    (1, 7, 6, "USART2", Rx),
    (2, 2, 2, "SPI1", Tx),
    (2, 4, 4, "SPI4", Rx),
    (2, 5, 5, "SPI5", Tx),
];

/// Further lines of the F446 (RM0390).
static F446: &[Line] = &[(1, 1, 1, "I2C3", Rx)];

/// Further lines of the F767 (RM0410).
static F767: &[Line] = &[
    (1, 1, 1, "I2C3", Rx),
    (1, 2, 2, "I2C4", Rx),
    (1, 5, 2, "I2C4", Tx),
    (1, 0, 8, "I2C3", Tx),
    (1, 1, 8, "I2C4", Rx),
    (1, 4, 8, "I2C2", Tx),
    (1, 6, 8, "I2C4", Tx),
    (1, 1, 9, "SPI2", Rx),
    (1, 6, 9, "SPI2", Tx),
    (2, 2, 9, "SPI4", Tx),
    (2, 5, 9, "SPI5", Rx),
];

/// RM0433 table 121: request of DMAMUX1.
static H7: &[(u8, &str, Signal)] = &[
    (9, "ADC1", Adc(0)),
    (10, "ADC1", Adc(1)),
    (11, "TIM1", Compare(0)),
    (12, "TIM1", Compare(1)),
    (13, "TIM1", Compare(2)),
    (14, "TIM1", Compare(3)),
    (15, "TIM1", Update),
    (18, "TIM2", Compare(0)),
    (19, "TIM2", Compare(1)),
    (20, "TIM2", Compare(2)),
    (21, "TIM2", Compare(3)),
    (22, "TIM2", Update),
    (23, "TIM3", Compare(0)),
    (24, "TIM3", Compare(1)),
    (25, "TIM3", Compare(2)),
    (26, "TIM3", Compare(3)),
    (27, "TIM3", Update),
    (29, "TIM4", Compare(0)),
    (30, "TIM4", Compare(1)),
    (31, "TIM4", Compare(2)),
    (32, "TIM4", Update),
    (33, "I2C1", Rx),
    (34, "I2C1", Tx),
    (35, "I2C2", Rx),
    (36, "I2C2", Tx),
    (37, "SPI1", Rx),
    (38, "SPI1", Tx),
    (39, "SPI2", Rx),
    (40, "SPI2", Tx),
    (41, "USART1", Rx),
    (42, "USART1", Tx),
    (43, "USART2", Rx),
    (44, "USART2", Tx),
    (45, "USART3", Rx),
    (46, "USART3", Tx),
    (47, "TIM8", Compare(0)),
    (48, "TIM8", Compare(1)),
    (49, "TIM8", Compare(2)),
    (50, "TIM8", Compare(3)),
    (51, "TIM8", Update),
    (55, "TIM5", Compare(0)),
    (56, "TIM5", Compare(1)),
    (57, "TIM5", Compare(2)),
    (58, "TIM5", Compare(3)),
    (59, "TIM5", Update),
    (61, "SPI3", Rx),
    (62, "SPI3", Tx),
    (63, "UART4", Rx),
    (64, "UART4", Tx),
    (65, "UART5", Rx),
    (66, "UART5", Tx),
    (69, "TIM6", Update),
    (70, "TIM7", Update),
    (71, "USART6", Rx),
    (72, "USART6", Tx),
    (73, "I2C3", Rx),
    (74, "I2C3", Tx),
    (79, "UART7", Rx),
    (80, "UART7", Tx),
    (81, "UART8", Rx),
    (82, "UART8", Tx),
    (83, "SPI4", Rx),
    (84, "SPI4", Tx),
    (85, "SPI5", Rx),
    (86, "SPI5", Tx),
    (105, "TIM15", Compare(0)),
    (106, "TIM15", Update),
    (109, "TIM16", Compare(0)),
    (110, "TIM16", Update),
    (111, "TIM17", Compare(0)),
    (112, "TIM17", Update),
    (115, "ADC3", Adc(0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that firmware of each family is known to use.
    #[test]
    fn common_dma_lines_are_in_table() {
        for (chip, line) in [
            (Chip::F103, (1, 6, 0, "USART2", Tx)),
            (Chip::F103, (1, 0, 0, "ADC1", Adc(0))),
            (Chip::L073, (1, 3, 4, "USART2", Tx)),
            (Chip::F446, (1, 6, 4, "USART2", Tx)),
            (Chip::F446, (2, 0, 0, "ADC1", Adc(0))),
            (Chip::F446, (2, 3, 3, "SPI1", Tx)),
            (Chip::F767, (1, 3, 4, "USART3", Tx)),
            (Chip::F407, (1, 1, 7, "TIM6", Update)),
            (Chip::F411, (2, 2, 2, "SPI1", Tx)),
            (Chip::F767, (1, 6, 9, "SPI2", Tx)),
        ] {
            assert!(dma_request_lines(chip).any(|known| *known == line), "{chip:?} {line:?}");
        }
        let is_known = |chip, line| dma_request_lines(chip).any(|known| *known == line);
        assert!(!is_known(Chip::F407, (2, 2, 2, "SPI1", Tx)), "SPI1 sends by streams 3 and 5 only");
        assert!(!is_known(Chip::F446, (1, 6, 9, "SPI2", Tx)), "it has eight channels a stream");
        assert_eq!(
            (multiplexed_request_line(46), multiplexed_request_line(46 + 64)),
            (Some(("USART3", Tx)), Some(("TIM16", Update)))
        );
        assert_eq!(
            (multiplexed_request_line(37), multiplexed_request_line(115)),
            (Some(("SPI1", Rx)), Some(("ADC3", Adc(0))))
        );
        assert_eq!(multiplexed_request_line(87), None, "SAI1 is not modelled");
    }

    #[test]
    fn lines_are_unique() {
        for chip in [Chip::F103, Chip::L073, Chip::F407, Chip::F411, Chip::F446, Chip::F767] {
            let table: Vec<Line> = dma_request_lines(chip).copied().collect();
            for (n, line) in table.iter().enumerate() {
                assert!(!table[..n].contains(line), "{chip:?} {line:?}");
                assert!((1..=2).contains(&line.0) && line.1 < 8 && line.2 < 16, "{line:?}");
            }
        }
    }
}
