use super::*;
use crate::stm32::block::Block;

/// Facts of each chip's data sheet that the tables must give: name, base, bus, gate, lines.
#[test]
fn rows_of_the_map() {
    type Fact = (Chip, &'static str, u32, Bus, Gate, &'static [u8]);
    let facts: [Fact; 22] = [
        (Chip::L053, "USART2", 0x4000_4400, Bus::Apb1, clock_gate(0x38, 17), &[28]),
        (Chip::L053, "GPIOC", 0x5000_0800, Bus::IoPort, clock_gate(0x2c, 2), &[]),
        (Chip::L073, "TIM7", 0x4000_1400, Bus::Apb1, clock_gate(0x38, 5), &[18]),
        (Chip::L073, "EXTI", 0x4001_0400, Bus::Apb2, None, &[5, 6, 7]),
        (Chip::L073, "DMA1", 0x4002_0000, Bus::Ahb1, clock_gate(0x30, 0), &[9, 10, 11]),
        (Chip::F103, "GPIOC", 0x4001_1000, Bus::Apb2, clock_gate(0x18, 4), &[]),
        (Chip::F103, "TIM1", 0x4001_2c00, Bus::Apb2, clock_gate(0x18, 11), &[24, 25, 26, 27]),
        (Chip::F103, "USART3", 0x4000_4800, Bus::Apb1, clock_gate(0x1c, 18), &[39]),
        (Chip::F103, "RCC", 0x4002_1000, Bus::Ahb1, None, &[5]),
        (Chip::F407, "TIM6", 0x4000_1000, Bus::Apb1, clock_gate(0x40, 4), &[54]),
        (Chip::F407, "USART6", 0x4001_1400, Bus::Apb2, clock_gate(0x44, 5), &[71]),
        (Chip::F407, "GPIOI", 0x4002_2000, Bus::Ahb1, clock_gate(0x30, 8), &[]),
        (Chip::F411, "SPI5", 0x4001_5000, Bus::Apb2, clock_gate(0x44, 20), &[85]),
        (Chip::F411, "EXTI", 0x4001_3c00, Bus::Apb2, None, &[6, 7, 8, 9, 10, 23, 40]),
        (Chip::F446, "QUADSPI", 0xa000_1000, Bus::Ahb3, clock_gate(0x38, 1), &[]),
        (Chip::F446, "DBGMCU", 0xe004_2000, Bus::Ppb, None, &[]),
        (Chip::F767, "UART8", 0x4000_7c00, Bus::Apb1, clock_gate(0x40, 31), &[83]),
        (Chip::F767, "RNG", 0x5006_0800, Bus::Ahb2, clock_gate(0x34, 6), &[80]),
        (Chip::H743, "LPUART1", 0x5800_0c00, Bus::Apb4, clock_gate(0xf4, 3), &[142]),
        (Chip::H743, "GPIOK", 0x5802_2800, Bus::Ahb4, clock_gate(0xe0, 10), &[]),
        (Chip::H743, "TIM17", 0x4001_4800, Bus::Apb2, clock_gate(0xf0, 18), &[118]),
        (Chip::H743, "FLASH", 0x5200_2000, Bus::Ahb3, None, &[4]),
    ];
    for (chip, name, base, bus, gate, lines) in facts {
        let row = chip.spec().rows().find(|row| row.name == name).unwrap_or_else(|| panic!("{chip:?} has no {name}"));
        let seen: Vec<u8> = row.irqs.iter().map(|&(_, line)| line).collect();
        assert_eq!((row.base, row.bus, row.gate, &seen[..]), (base, bus, gate, lines), "{chip:?} {name}");
    }
}

#[test]
fn missing_blocks_of_a_chip() {
    for (chip, absent) in [
        (Chip::L053, &["TIM3", "TIM7", "USART4", "GPIOE", "I2C3"][..]),
        (Chip::F411, &["TIM6", "TIM7", "USART3", "UART4", "RNG", "GPIOF", "DAC1"]),
        (Chip::F407, &["SPI4", "SAI1", "QUADSPI"]),
        (Chip::F446, &["RNG", "ETH", "GPIOI"]),
        (Chip::F103, &["TIM6", "GPIOF", "RNG"]),
    ] {
        for name in absent {
            assert!(!chip.spec().rows().any(|row| row.name == *name), "{chip:?} has {name}");
        }
    }
}

/// Every chip's blocks have addresses of their own, lines that exist, and enable bits that RCC has.
#[test]
fn tables_are_consistent() {
    for chip in Chip::ALL {
        let spec = chip.spec();
        assert_eq!(spec.chip, chip);
        let whole = crate::stm32::Stm32::new(chip, &crate::stm32::Options::default());
        let mut gates = Vec::new();
        for row in spec.rows() {
            assert_eq!(whole.manual_name_of_peripheral(row.base), Some(row.name), "{chip:?}");
            assert!(row.irqs.iter().all(|&(_, line)| u16::from(line) < spec.irq_lines), "{chip:?} {}", row.name);
            if let Some((offset, bit)) = row.gate {
                assert!(whole.rcc.is_enable_or_reset_register(offset) && bit < 32, "{chip:?} {}", row.name);
                gates.push((offset, bit, row.name));
            }
        }
        // Only blocks that share an enable bit on the part may do so here.
        gates.sort_unstable();
        for pair in gates.windows(2) {
            let shared =
                matches!((pair[0].2, pair[1].2), ("I2S2EXT", "SPI2") | ("I2S3EXT", "SPI3") | ("FDCAN1", "FDCAN2"));
            assert!(pair[0].0 != pair[1].0 || pair[0].1 != pair[1].1 || shared, "{chip:?} {:?}", pair);
        }
        for required in ["RCC", "FLASH", "PWR", "EXTI", "GPIOA", "TIM2", "USART1", "USART2"] {
            assert!(spec.rows().any(|row| row.name == required), "{chip:?} lacks {required}");
        }
        assert_eq!(whole.rcc.interrupt_outputs(), 0);
    }
}

#[test]
fn addresses_without_a_block() {
    for (chip, address) in [
        (Chip::L053, 0x4000_0400),
        (Chip::F103, 0x4001_8000),
        (Chip::F446, 0x4002_5000),
        (Chip::F767, 0x2000_0000),
        (Chip::H743, 0xe004_2000),
        (Chip::H743, 0x4400_0000),
    ] {
        let whole = crate::stm32::Stm32::new(chip, &crate::stm32::Options::default());
        assert_eq!(
            (whole.manual_name_of_peripheral(address), whole.bus_at_address(address)),
            (None, None),
            "{chip:?} {address:#x}"
        );
    }
}

/// Checks the registers that drivers poll in blocks that are not modelled.
#[test]
fn stubs_do_not_hang_their_drivers() {
    use crate::stm32::{Effects, Options, Stm32};
    // Chip, enable register and bits, register, written, read.
    for (chip, gate, register, written, want) in [
        (Chip::F446, (0x4002_3834, 1 << 7), 0x5000_0010, 1, 0x8000_0000),
        (Chip::F767, (0x4002_3830, 1 << 25), 0x4002_9000, 3, 2),
        (Chip::H743, (0x5802_44d4, 1 << 12), 0x5200_4000, 0x30d2, 0x30d2),
    ] {
        let (mut whole, mut effects) = (Stm32::new(chip, &Options::default()), Effects::default());
        whole.write_register(gate.0, 4, gate.1, 0, &mut effects);
        whole.write_register(register, 4, written, 1, &mut effects);
        // Told once, by address.
        assert_eq!(effects.unmodelled.take(), Some((register, true)), "{chip:?}");
        assert_eq!(whole.read_register(register, 4, 2, &mut effects), want, "{chip:?} {register:#x}");
        whole.write_register(register, 4, written, 3, &mut effects);
        assert_eq!(effects.unmodelled, None, "{chip:?}");
    }
}
