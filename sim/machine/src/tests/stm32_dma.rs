//! What DMA writes is seen as what a core writes: by watches, by code that was decoded, and by snapshots.

use super::writer::{RAM, writer};
use crate::board::Board;
use crate::scenarios::CHIPS;
use crate::stop::StopReason;

const WORD: u32 = 0xdeca_fbad;
const TIM2: u32 = 0x4000_0000;
/// Updates of TIM2 are so many of its clocks apart.
const PERIOD: u32 = 5_000;

/// How a chip's DMA is reached: writes that enable the clocks of DMA1, DMA2 and TIM2, a controller that copies memory,
/// and the stream of TIM2's updates at DMA1 with its selection. RAM that DMA reaches.
struct Wiring {
    chip: &'static str,
    clocks: &'static [(u32, u32)],
    copier: u32,
    dma1: u32,
    has_streams: bool,
    selection: Option<(u32, u32)>,
    ram: u32,
}

fn wirings() -> Vec<Wiring> {
    const F4: &[(u32, u32)] = &[(0x4002_3830, 3 << 21), (0x4002_3840, 1)];
    let row = |chip: &'static str| match chip {
        "stm32f103" => (&[(0x4002_1014, 0x15), (0x4002_101c, 1)][..], 0x4002_0000, 0x4002_0000, false, None, RAM),
        "stm32l053" | "stm32l073" => {
            let clocks = &[(0x4002_1030, 0x101), (0x4002_1038, 1)][..];
            (clocks, 0x4002_0000, 0x4002_0000, false, Some((0x4002_00a8, 8 << 4)), RAM)
        }
        "stm32h743" => {
            let clocks = &[(0x5802_44d8, 3), (0x5802_44e8, 1)][..];
            (clocks, 0x4002_0400, 0x4002_0000, true, Some((0x4002_0804, 22)), 0x3000_0000)
        }
        _ => (F4, 0x4002_6400, 0x4002_6000, true, None, RAM),
    };
    let of_stm32 = CHIPS.into_iter().filter(|chip| *chip != "rp2040");
    of_stm32
        .map(|chip| {
            let (clocks, copier, dma1, has_streams, selection, ram) = row(chip);
            Wiring { chip, clocks, copier, dma1, has_streams, selection, ram }
        })
        .collect()
}

impl Wiring {
    /// Writes that copy `count` items of 1 << `size` bytes with stream 0, or channel 1.
    fn copy(&self, from: u32, to: u32, count: u32, size: u32) -> Vec<(u32, u32)> {
        let (base, registers) =
            (self.copier, if self.has_streams { [0x14, 0x18, 0x1c, 0x10] } else { [12, 16, 20, 8] });
        let control = if self.has_streams {
            1 | 2 << 6 | 3 << 9 | size << 11 | size << 13
        } else {
            1 | 3 << 6 | size << 8 | size << 10 | 1 << 14
        };
        registers.into_iter().zip([count, from, to, control]).map(|(offset, value)| (base + offset, value)).collect()
    }

    /// Writes that store the halfword `value` at `to` with TIM2's next update, and at the places after it with the next
    /// ones.
    fn store_late(&self, to: u32, value: u32, count: u32) -> Vec<(u32, u32)> {
        // Stream 1, or channel 2.
        let registers = if self.has_streams { [0x2c, 0x30, 0x34, 0x28] } else { [32, 36, 40, 28] };
        let control = if self.has_streams {
            let channel = if self.chip == "stm32h743" { 0 } else { 3 };
            1 | 1 << 10 | 1 << 11 | 1 << 13 | channel << 25
        } else {
            1 | 1 << 7 | 1 << 8 | 1 << 10
        };
        let values = [count, TIM2 + 0x34, to, control];
        let stream = registers.into_iter().zip(values).map(|(offset, value)| (self.dma1 + offset, value));
        let timer = [(0x34, value), (0x2c, PERIOD - 1), (0x0c, 1 << 8), (0x00, 1)];
        let timer = timer.map(|(offset, value)| (TIM2 + offset, value));
        self.selection.into_iter().chain(stream).chain(timer).collect()
    }

    fn board(&self, writes: Vec<(u32, u32)>) -> Box<dyn Board> {
        let table: Vec<(u32, u32)> = self.clocks.iter().copied().chain(writes).collect();
        let mut board = writer(self.chip, &table, 1, &[]);
        assert!(board.write_memory(self.ram + 0x800, &WORD.to_le_bytes()));
        board
    }
}

#[test]
fn a_watched_word_that_dma_writes_stops_the_run() {
    for wiring in wirings() {
        let (from, to) = (wiring.ram + 0x800, wiring.ram + 0x900);
        for (offset, size, expected) in [(0, 2, WORD), (2, 1, WORD << 16), (1, 0, (WORD & 0xff) << 8)] {
            let mut board = wiring.board(wiring.copy(from, to + offset, 1, size));
            assert!(board.record_writes(to, 7, true), "{}", wiring.chip);
            let stop = board.run_cycles(10_000);
            assert_eq!((stop.reason, stop.address), (StopReason::Watch, to), "{} {size}: {stop:?}", wiring.chip);
            let events = board.take_events();
            let seen: Vec<_> = events.iter().map(|event| (event.id, event.value, event.pc)).collect();
            assert_eq!(seen, [(7, expected, 0)], "{} {size}", wiring.chip);
            assert!(events[0].cycle <= board.current_cycle());
        }
    }
}

#[test]
fn word_watched_without_a_stop_is_recorded() {
    for wiring in wirings() {
        let (from, to) = (wiring.ram + 0x800, wiring.ram + 0x900);
        let mut board = wiring.board(wiring.copy(from, to + 4, 1, 2));
        assert!(board.record_writes(to, 7, true) && board.record_writes(to + 4, 8, false));
        assert_eq!(board.run_cycles(10_000).reason, StopReason::Cycles, "{}", wiring.chip);
        let events: Vec<_> = board.take_events().iter().map(|event| (event.id, event.value)).collect();
        assert_eq!(events, [(8, WORD)], "{}", wiring.chip);
    }
}

#[test]
fn code_that_dma_replaces_is_executed_as_it_is_then() {
    // The H7's DMA does not reach the RAM in which the program is.
    for wiring in wirings().iter().filter(|wiring| wiring.chip != "stm32h743") {
        // The program stays at its last instruction, long enough to be hot. Then that is a breakpoint.
        let last = RAM + 0x52;
        let mut board = wiring.board(wiring.store_late(last, 0xbe00, 1));
        assert_eq!(board.read_memory(last, 2), Some(vec![0xfe, 0xe7]), "{}", wiring.chip);
        board.run_cycles(4_000);
        assert_eq!(board.core_position(0).pc, last, "{}", wiring.chip);
        let stop = board.run_cycles(100_000);
        assert_eq!(stop.reason, StopReason::Lockup, "{}: {stop:?}", wiring.chip);
        assert!(stop.cycle > u64::from(PERIOD) - 500, "{}: {stop:?}", wiring.chip);
    }
}

#[test]
fn transfers_come_at_the_same_cycles_however_the_run_is_cut() {
    for wiring in wirings() {
        let to = wiring.ram + 0x900;
        let observe = |board: &mut dyn Board| {
            let events: Vec<_> = board.take_events().iter().map(|event| (event.cycle, event.value)).collect();
            (events, board.current_cycle(), board.core_registers(0), board.read_memory(to, 16))
        };
        let start = || {
            let writes = [wiring.store_late(to + 8, 0x1234, 3), wiring.copy(wiring.ram + 0x800, to, 8, 0)].concat();
            let mut board = wiring.board(writes);
            (0..4).for_each(|n| assert!(board.record_writes(to + 4 * n, 1, false), "{}", wiring.chip));
            board
        };
        let mut whole = start();
        whole.run_cycles(40_000);
        let expected = observe(&mut *whole);
        assert_eq!(expected.0.len(), 11, "{}: {:?}", wiring.chip, expected.0);
        let mut cut = start();
        while cut.current_cycle() < 40_000 {
            cut.run_cycles(7.min(40_000 - cut.current_cycle()));
        }
        assert_eq!(observe(&mut *cut), expected, "{}", wiring.chip);
        // From a snapshot amid the transfers, on the same board and on another one.
        for at in [200, 330, 400, 8_000] {
            let mut one = start();
            one.run_cycles(at);
            let snapshot = one.take_snapshot();
            one.run_cycles(40_000 - at);
            assert_eq!(observe(&mut *one), expected, "{} {at}", wiring.chip);
            assert!(one.restore_snapshot(&snapshot));
            one.run_cycles(40_000 - at);
            assert_eq!(one.read_memory(to, 16), expected.3, "{} {at}", wiring.chip);
            assert_eq!(
                (one.current_cycle(), one.core_registers(0)),
                (expected.1, expected.2.clone()),
                "{} {at}",
                wiring.chip
            );
        }
    }
}
