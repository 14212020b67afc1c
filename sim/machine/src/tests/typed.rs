//! What the host types comes in at the speed of the line, from when it is typed.

use super::writer::writer;
use crate::board::Board;
use crate::scenarios::CHIPS;

/// Register writes that switch a serial port on with `BIT_CYCLES` a bit; its status, and the bit of a byte that has
/// come.
struct Port {
    writes: Vec<(u32, u32)>,
    status: u32,
    has_byte: fn(u32) -> bool,
}

const BIT_CYCLES: u64 = 160;
const STEP: u64 = 20;

fn port(chip: &str) -> Port {
    const USART2: u32 = 0x4000_4400;
    let received = |status: u32| status & 1 << 5 != 0;
    let first = |clock: (u32, u32)| Port {
        writes: vec![clock, (USART2 + 8, BIT_CYCLES as u32), (USART2 + 12, 0x200c)],
        status: USART2,
        has_byte: received,
    };
    let later = |clock: (u32, u32)| Port {
        writes: vec![clock, (USART2 + 12, BIT_CYCLES as u32), (USART2, 0xd)],
        status: USART2 + 0x1c,
        has_byte: received,
    };
    match chip {
        // UART0 out of reset, clk_peri on, 10 * 16 cycles a bit, 8 bits.
        "rp2040" => Port {
            writes: vec![
                (0x4000_f000, 1 << 22),
                (0x4000_8048, 1 << 11),
                (0x4003_4024, 10),
                (0x4003_402c, 0x60),
                (0x4003_4030, 0x301),
            ],
            status: 0x4003_4018,
            has_byte: |status| status & 1 << 4 == 0,
        },
        "stm32l053" | "stm32l073" => later((0x4002_1038, 1 << 17)),
        "stm32f103" => first((0x4002_101c, 1 << 17)),
        "stm32f767" => later((0x4002_3840, 1 << 17)),
        "stm32h743" => later((0x5802_44e8, 1 << 17)),
        _ => first((0x4002_3840, 1 << 17)),
    }
}

/// Cycles from now on until the port has a byte.
fn cycles_to_a_byte(board: &mut dyn Board, port: &Port) -> u64 {
    let start = board.current_cycle();
    let has_byte = |board: &mut dyn Board| {
        let snapshot = board.take_snapshot();
        let status = board.read_as_core(0, port.status).expect("a register");
        assert!(board.restore_snapshot(&snapshot));
        (port.has_byte)(status)
    };
    while !has_byte(board) {
        assert!(board.current_cycle() < start + 100 * BIT_CYCLES, "nothing came");
        board.run_cycles(STEP);
    }
    board.current_cycle() - start
}

#[test]
fn a_typed_byte_takes_its_time_from_when_it_is_typed() {
    for chip in CHIPS {
        let port = port(chip);
        // Of one place of the core's program and the next one.
        for cycles in [100_000, 100_001, 123_456] {
            let mut board = writer(chip, &port.writes, 1, &[]);
            board.run_cycles(cycles);
            board.type_into_console(0, b"a");
            let taken = cycles_to_a_byte(&mut *board, &port);
            assert!((10 * BIT_CYCLES..10 * BIT_CYCLES + 2 * STEP).contains(&taken), "{chip} at {cycles}: {taken}");
        }
    }
}
