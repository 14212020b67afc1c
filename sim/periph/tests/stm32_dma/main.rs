//! DMA controllers of all families through the chip's address map: counts, flags, packing, pace, priorities, errors.

mod bench;
mod paced;
mod streams;

use bench::{Bench, FLASH, Job, RAM, Stream};
use rtoslab_periph::stm32::Chip;

/// A controller of each chip that copies memory, and the interrupt line of its stream 2 (channel 3).
const COPIERS: [(Chip, u32, u16); 8] = [
    (Chip::F103, 1, 13),
    (Chip::L053, 1, 10),
    (Chip::L073, 1, 10),
    (Chip::F407, 2, 58),
    (Chip::F411, 2, 58),
    (Chip::F446, 2, 58),
    (Chip::F767, 2, 58),
    (Chip::H743, 1, 13),
];

/// Long enough for all that these tests copy.
const LONG: u64 = 20_000;

fn copy(bench: &Bench, count: u32) -> Job {
    let memory = bench.ram() + 0x1000;
    Job { peripheral: FLASH, memory, count, memory_to_memory: true, increments: (true, true), ..Job::default() }
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n as u8).wrapping_mul(7)).collect()
}

#[test]
fn memory_to_memory_copies_counts_and_interrupts() {
    for (chip, controller, line) in COPIERS {
        let mut bench = Bench::new(chip);
        let stream = Stream::of(chip, controller, 2);
        for size in 0..3 {
            let job = Job { sizes: (size, size), interrupts: true, ..copy(&bench, 12) };
            stream.start(&mut bench, &job);
            assert!(stream.left(&mut bench) == 12 && !bench.irq(line), "{chip:?}: it takes time");
            bench.step(LONG);
            let bytes = 12 << size;
            assert_eq!(bench.get(job.memory, bytes + 1), [pattern(bytes), vec![0]].concat(), "{chip:?} size {size}");
            assert_eq!((stream.left(&mut bench), stream.flags(&mut bench)), (0, (true, true, false)), "{chip:?}");
            assert!(bench.irq(line), "{chip:?}");
            // A channel stays enabled, a stream is not.
            assert_eq!(stream.is_enabled(&mut bench), !stream.has_streams, "{chip:?}");
            stream.clear_flags(&mut bench);
            assert!(!bench.irq(line), "{chip:?}");
            bench.put(job.memory, &[0; 64]);
        }
    }
}

#[test]
fn half_transfer_comes_at_half() {
    for (chip, controller, _) in COPIERS {
        for (count, half) in [(10, 5), (7, 4), (1, 0)] {
            let mut bench = Bench::new(chip);
            let stream = Stream::of(chip, controller, 0);
            // Streams store four bytes when the FIFO's first quarter is full.
            let job = Job { sizes: (2, 2), ..copy(&bench, count) };
            stream.start(&mut bench, &job);
            let mut seen = None;
            for _ in 0..LONG {
                bench.step(1);
                let left = count - bench.memories.writes.len() as u32;
                let (complete, is_half, _) = stream.flags(&mut bench);
                if is_half {
                    seen.get_or_insert(left);
                }
                assert_eq!(complete, left == 0, "{chip:?} of {count}, {left} left");
            }
            assert_eq!(seen, (count > 1).then_some(half), "{chip:?} of {count}");
        }
    }
}

#[test]
fn sizes_of_channels_extend_by_zeros_and_cut_off() {
    // RM0008 table 76: sizes, then what four items B0 B1 … become.
    let cases: [((u32, u32), [u8; 16]); 9] = [
        ((0, 0), [0xb0, 0xb1, 0xb2, 0xb3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ((0, 1), [0xb0, 0, 0xb1, 0, 0xb2, 0, 0xb3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ((0, 2), [0xb0, 0, 0, 0, 0xb1, 0, 0, 0, 0xb2, 0, 0, 0, 0xb3, 0, 0, 0]),
        ((1, 0), [0xb0, 0xb2, 0xb4, 0xb6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ((1, 1), [0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0, 0, 0, 0, 0, 0, 0, 0]),
        ((1, 2), [0xb0, 0xb1, 0, 0, 0xb2, 0xb3, 0, 0, 0xb4, 0xb5, 0, 0, 0xb6, 0xb7, 0, 0]),
        ((2, 0), [0xb0, 0xb4, 0xb8, 0xbc, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ((2, 1), [0xb0, 0xb1, 0xb4, 0xb5, 0xb8, 0xb9, 0xbc, 0xbd, 0, 0, 0, 0, 0, 0, 0, 0]),
        ((2, 2), [0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf]),
    ];
    for chip in [Chip::F103, Chip::L073] {
        for (sizes, expected) in cases {
            for from_memory in [false, true] {
                let mut bench = Bench::new(chip);
                bench.put(RAM, &(0xb0..0xc0).collect::<Vec<u8>>());
                let stream = Stream::of(chip, 1, 4);
                // From the peripheral's side to the memory's, or back with the sizes changed round.
                let (from, to) = (RAM, RAM + 0x100);
                let (peripheral, memory) = if from_memory { (to, from) } else { (from, to) };
                let sizes = if from_memory { (sizes.1, sizes.0) } else { sizes };
                let job = Job { peripheral, memory, sizes, from_memory, ..copy(&bench, 4) };
                stream.start(&mut bench, &job);
                bench.step(LONG);
                assert_eq!(bench.get(to, 16), expected, "{chip:?} {sizes:?} {from_memory}");
            }
        }
    }
}

#[test]
fn items_of_a_stream_pack_and_unpack_in_its_fifo() {
    for (chip, controller, _) in COPIERS.into_iter().filter(|(chip, ..)| Stream::of(*chip, 1, 0).has_streams) {
        for peripheral in 0..3 {
            for memory in 0..3 {
                let mut bench = Bench::new(chip);
                let stream = Stream::of(chip, controller, 5);
                let count = 32 >> peripheral;
                let job = Job { sizes: (peripheral, memory), fcr: 3, ..copy(&bench, count) };
                stream.start(&mut bench, &job);
                bench.step(LONG);
                assert_eq!(
                    bench.get(job.memory, 33),
                    [pattern(32), vec![0]].concat(),
                    "{chip:?} {peripheral} {memory}"
                );
                assert_eq!(bench.memories.writes.len(), 32 >> memory, "{chip:?} {peripheral} {memory}");
            }
        }
    }
}

#[test]
fn addresses_that_do_not_increment_stay() {
    for (chip, controller, _) in COPIERS {
        for increments in [(false, true), (true, false), (false, false)] {
            let mut bench = Bench::new(chip);
            let job = Job { increments, sizes: (2, 2), ..copy(&bench, 4) };
            Stream::of(chip, controller, 1).start(&mut bench, &job);
            bench.step(LONG);
            let words = pattern(16);
            let expected: Vec<u8> = match increments {
                (false, true) => words[..4].repeat(4),
                (true, _) => [words[12..].to_vec(), vec![0; 12]].concat(),
                (false, false) => [words[..4].to_vec(), vec![0; 12]].concat(),
            };
            assert_eq!(bench.get(job.memory, 16), expected, "{chip:?} {increments:?}");
        }
    }
}

#[test]
fn higher_priority_channel_goes_first_then_the_lower_number() {
    for (chip, controller, _) in &COPIERS[..3] {
        let (chip, controller) = (*chip, *controller);
        // Priorities of streams 1 and 3, and the one that is done first.
        for (priorities, first) in [((0, 0), 1), ((0, 1), 3), ((2, 1), 1), ((2, 3), 3)] {
            let mut bench = Bench::new(chip);
            let first_target = bench.ram() + 0x1000;
            let target = |n: u32| first_target + n * 0x100;
            let jobs = [(1, priorities.0), (3, priorities.1)].map(|(n, priority)| {
                (
                    Stream::of(chip, controller, n),
                    Job { priority, memory: target(n), sizes: (2, 2), ..copy(&bench, 20) },
                )
            });
            jobs.iter().for_each(|(stream, job)| stream.set_up(&mut bench, job));
            jobs.iter().for_each(|(stream, job)| stream.start(&mut bench, job));
            bench.step(LONG);
            let done = |n: u32| {
                let last = target(n) + 19 * 4;
                bench.memories.writes.iter().find(|write| write.1 == last).expect("the last word").0
            };
            let order = if first == 1 { (1, 3) } else { (3, 1) };
            assert!(done(order.0) < done(order.1), "{chip:?} {priorities:?}");
        }
    }
}

#[test]
fn bus_errors_switch_off() {
    // What DMA cannot reach: nothing, flash to write, and places that only the core or another controller has.
    let everywhere = [(0x6000_0000, false), (0xe000_e100, false)];
    let of_chip: [(Chip, u32, &[u32]); 6] = [
        (Chip::F103, 1, &[]),
        (Chip::L073, 1, &[0x5000_0000]),
        (Chip::F407, 2, &[0x1000_0000]),
        (Chip::F446, 1, &[FLASH]),
        (Chip::F767, 2, &[0x0020_0000, 0x0000_0000]),
        (Chip::H743, 2, &[0x2000_0000, 0x0000_0000]),
    ];
    for (chip, controller, more) in of_chip {
        let reads = everywhere.iter().map(|place| place.0).chain(more.iter().copied());
        let line = if controller == 1 { 11 } else { 56 };
        let line = if chip == Chip::L073 { 9 } else { line };
        for (address, writes) in reads.map(|address| (address, false)).chain([(FLASH, true)]) {
            let mut bench = Bench::new(chip);
            let stream = Stream::of(chip, controller, 0);
            let mut job = Job { peripheral: address, interrupts: true, sizes: (2, 2), ..copy(&bench, 4) };
            if writes {
                (job.peripheral, job.memory) = (bench.ram(), FLASH);
            }
            stream.start(&mut bench, &job);
            bench.step(LONG);
            assert!(!stream.is_enabled(&mut bench), "{chip:?} {address:#x}");
            assert_eq!(stream.flags(&mut bench), (false, false, true), "{chip:?} {address:#x}");
            assert!(bench.irq(line), "{chip:?} {address:#x}");
            assert!(bench.memories.writes.is_empty());
        }
    }
}

#[test]
fn registers_are_locked_while_enabled() {
    for (chip, controller, _) in COPIERS {
        let mut bench = Bench::new(chip);
        let stream = Stream::of(chip, controller, 6);
        let job = copy(&bench, 100);
        stream.start(&mut bench, &job);
        let before: Vec<u32> = (0..4).map(|n| bench.read_register(stream.register(n))).collect();
        (1..4).for_each(|n| bench.write_register(stream.register(n), 5));
        let after: Vec<u32> = (0..4).map(|n| bench.read_register(stream.register(n))).collect();
        assert_eq!(before, after, "{chip:?}");
        bench.write_register(stream.register(0), before[0] & !1);
        bench.step(LONG);
        assert!(!stream.is_enabled(&mut bench), "{chip:?}");
        (1..4).for_each(|n| bench.write_register(stream.register(n), 4));
        assert_eq!((1..4).map(|n| bench.read_register(stream.register(n))).collect::<Vec<u32>>(), [4; 3], "{chip:?}");
    }
}

#[test]
fn nothing_moves_without_clock_or_count() {
    for (chip, controller, _) in COPIERS {
        let mut bench = Bench::new(chip);
        let stream = Stream::of(chip, controller, 0);
        let job = copy(&bench, 0);
        stream.start(&mut bench, &job);
        bench.step(LONG);
        assert_eq!((bench.memories.writes.len(), stream.flags(&mut bench)), (0, (false, false, false)), "{chip:?}");
        assert_eq!(bench.chip.next_advance_cycle(), u64::MAX, "{chip:?}: nothing is due");
    }
    // Its clock is switched off amid a copy, and on again.
    let (rcc, mut bench) = (0x4002_3830, Bench::new(Chip::F446));
    let stream = Stream::of(Chip::F446, 2, 0);
    let job = copy(&bench, 200);
    stream.start(&mut bench, &job);
    bench.step(200);
    bench.write_register(rcc, 0);
    let before = bench.memories.writes.len();
    bench.step(LONG);
    // At most what the two ports have begun.
    let after = bench.memories.writes.len();
    assert!(0 < before && after <= before + 1 && after < 200, "{before} {after}");
    bench.write_register(rcc, u32::MAX);
    bench.step(LONG);
    assert_eq!((bench.memories.writes.len(), stream.left(&mut bench)), (200, 0));
}

#[test]
fn a_transfer_that_switches_its_own_stream_off_is_the_last_one() {
    for (chip, controller, _) in COPIERS {
        let mut bench = Bench::new(chip);
        let stream = Stream::of(chip, controller, 0);
        let memory = bench.ram();
        let zeros = Job { sizes: (2, 2), increments: (true, false), ..copy(&bench, 4) };
        // The words are zeros, and go to its control register.
        stream.start(&mut bench, &Job { peripheral: memory, memory: stream.register(0), ..zeros });
        bench.step(LONG);
        assert!(!stream.is_enabled(&mut bench), "{chip:?}");
        assert!(bench.memories.writes.is_empty(), "{chip:?}");
    }
}

#[test]
fn a_word_takes_the_cycles_of_the_manuals() {
    // AN2548: arbitration 1, flash 2, RAM 2, which is no read after a write: 5; from RAM 6.
    for (from, cycles) in [(FLASH, 5), (RAM, 6)] {
        let mut bench = Bench::new(Chip::F103);
        let job = Job { peripheral: from, sizes: (2, 2), ..copy(&bench, 6) };
        Stream::of(Chip::F103, 1, 0).start(&mut bench, &job);
        bench.step(LONG);
        let times: Vec<u64> = bench.memories.writes.iter().map(|write| write.0).collect();
        assert_eq!(times[0], 5, "{from:#x}");
        // A read of the flash after a write to RAM waits, too: both are memories.
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 6), "{cycles} {times:?}");
    }
}
