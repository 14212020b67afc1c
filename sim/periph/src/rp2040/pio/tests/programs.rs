//! Whole programs against the timing that their devices want.

use super::*;

/// (cycles high, cycles low) of each pulse of pin 0. The last one may still be low.
fn pulses(edges: &[(u64, u32)]) -> Vec<(u64, u64)> {
    let rises: Vec<usize> = (0..edges.len()).filter(|&index| edges[index].1 & 1 == 1).collect();
    let at = |index: usize| edges.get(index).map_or(u64::MAX, |edge| edge.0);
    rises.iter().map(|&index| (at(index + 1) - at(index), at(index + 2).wrapping_sub(at(index + 1)))).collect()
}

#[test]
fn a_ws2812_strip_gets_its_colours() {
    // A bit in ten ticks: two low while it is fetched, three high, four with the level of the bit, one low.
    let program = [delayed(0x6021, 1), delayed(SET_PINS | 1, 2), delayed(0xa001, 3), SET_PINS];
    let mut rig = Rig::new(&program);
    // 125 MHz / 8 MHz = 15.625; 24 bits a word, the highest first, eight words of FIFO.
    rig.write_register(CLKDIV, 15 << 16 | 160 << 8);
    rig.write_register(SHIFTCTRL, 1 << 30 | 24 << 25 | 1 << 17);
    let colours = [0x00ff_5a01_u32, 0x0012_3480];
    for colour in colours {
        rig.write_register(TXF0, colour << 8);
    }
    let start = rig.start(1);
    rig.run_to(start + 20_000);
    let pulses = pulses(&rig.edges);
    let bits = colours.iter().flat_map(|colour| (0..24).rev().map(move |bit| colour >> bit & 1 == 1));
    let bits: Vec<bool> = bits.collect();
    assert_eq!(pulses.len(), bits.len());
    for (number, (&(high, low), &bit)) in pulses.iter().zip(&bits).enumerate() {
        // WS2812B: 0.4 or 0.8 us high and 0.85 or 0.45 us low, each within 0.15 us; a cycle is 8 ns.
        let last = number == bits.len() - 1;
        let (high_ns, low_ns) = (8 * high, if last { 0 } else { 8 * low });
        let (expected_high, expected_low) = if bit { (800, 450) } else { (400, 850) };
        assert!(high_ns.abs_diff(expected_high) <= 150, "bit {number}: {high_ns} ns high");
        assert!(last || low_ns.abs_diff(expected_low) <= 150, "bit {number}: {low_ns} ns low");
        // Ten ticks of 15.625 cycles, to the cycle.
        assert!(last || high + low == 156 || high + low == 157, "bit {number}: {high} + {low}");
    }
    // 47 bits without a gap between the words: 47 x 156.25 cycles, from tick to tick.
    let rises: Vec<u64> = rig.edges.iter().filter(|edge| edge.1 & 1 == 1).map(|edge| edge.0).collect();
    assert!(matches!(rises[47] - rises[0], 7343 | 7344));
}

#[test]
fn a_uart_sends_frames() {
    // pull; set x, 9; loop: out pins, 1 [6]; jmp x--, loop. Start bit, eight bits, stop bit: eight ticks each.
    let program = [PULL, SET_X | 9, delayed(0x6001, 6), 0x0042];
    let mut rig = Rig::new(&program);
    // 115200 baud: 125 MHz / (8 x 115200) = 135.63.
    rig.write_register(CLKDIV, 135 << 16 | 162 << 8);
    rig.write_register(INSTR, u32::from(SET_PINS | 1));
    let bytes = *b"PIO";
    for byte in bytes {
        rig.write_register(TXF0, u32::from(byte) << 1 | 0x200);
    }
    let start = rig.start(1);
    rig.run_to(start + 40_000);
    let level = |at: u64| rig.edges.iter().rev().find(|edge| edge.0 <= at).map_or(1, |edge| edge.1 & 1);
    // Two ticks before each frame, which has eighty.
    let tick = |number: u64| start + number * (135 * 256 + 162) / 256;
    for (frame, byte) in bytes.into_iter().enumerate() {
        let begin = 82 * frame as u64 + 2;
        let sampled: Vec<u32> = (0..10).map(|bit| level(tick(begin + 8 * bit + 4))).collect();
        let expected: Vec<u32> = (0..10).map(|bit| (u32::from(byte) << 1 | 0x200) >> bit & 1).collect();
        assert_eq!(sampled, expected, "{}", byte as char);
        assert!(rig.edges.iter().any(|&edge| edge == (tick(begin), 0)), "the start bit falls at its tick");
    }
    assert_eq!(rig.read_register(FDEBUG), 1 << 24, "it waits for more");
}

#[test]
fn directions_and_side_set_make_a_clock() {
    // set pindirs, 1; then out pins, 1 side 0; nop side 1: a clock at half the rate, data before its rising edge.
    let mut rig = Rig::new(&[SET_DIRECTIONS | 1, 0x6001, 0xb042]);
    rig.write_register(EXECCTRL, 2 << 12 | 1 << 7);
    rig.write_register(SHIFTCTRL, 1 << 17 | 1 << 19);
    rig.write_register(PINCTRL, 1 << 29 | 1 << 26 | 1 << 20 | 1 << 10);
    rig.write_register(TXF0, 0b0110);
    let start = rig.start(1);
    rig.run_to(start + 9);
    assert_eq!(rig.pio.pin_levels_and_directions().1, 1);
    // The OSR is filled while SET executes.
    let expected = [(2, 2), (3, 1), (4, 3), (6, 3), (7, 0), (8, 2), (9, 0)];
    let seen: Vec<(u64, u32)> = rig.edges_from(start);
    let levels = |edges: &[(u64, u32)], at: u64| edges.iter().rev().find(|edge| edge.0 <= at).map(|edge| edge.1);
    for (at, level) in expected {
        assert_eq!(levels(&seen, at), Some(level), "cycle {at} of {seen:?}");
    }
}

#[test]
fn a_word_every_two_cycles_with_autopush_and_autopull() {
    // out x, 32; in x, 32: the data sheet's loop-back.
    let mut rig = Rig::new(&[0x6020, 0x4020]);
    rig.write_register(SHIFTCTRL, 3 << 16);
    for word in 1..=4 {
        rig.write_register(TXF0, word);
    }
    let start = rig.start(1);
    rig.run_to(start + 100);
    assert_eq!(rig.read_register(FLEVEL), 4 << 4);
    let words: Vec<u32> = (0..4).map(|_| rig.read_register(RXF0)).collect();
    assert_eq!(words, [1, 2, 3, 4]);
    // The fifth word waits for room: the first OUT took a cycle to fill the OSR, then two cycles a word.
    let mut rig = Rig::new(&[0x6020, 0x4020]);
    rig.write_register(SHIFTCTRL, 3 << 16);
    for word in 1..=4 {
        rig.write_register(TXF0, word);
    }
    let start = rig.start(1);
    for (cycle, level) in [(1, 0), (2, 1), (3, 1), (4, 2), (6, 3), (7, 3), (8, 4)] {
        rig.run_to(start + cycle);
        let flevel = rig.pio.read_register(FLEVEL, &mut rig.bench.access_at(start + cycle));
        assert_eq!(flevel >> 4 & 15, level, "cycle {cycle}");
    }
}
