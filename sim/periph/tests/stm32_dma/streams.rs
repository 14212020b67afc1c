//! What only streams have: FIFO, bursts, two buffers, suspension.

use rtoslab_periph::stm32::Chip;

use super::bench::{Bench, Job, Stream};

const CHIPS: [Chip; 3] = [Chip::F446, Chip::F767, Chip::H743];
const TIM2: u32 = 0x4000_0000;
const DIRECT: u32 = 0;
const FIFO: u32 = 4;
const DBM: u32 = 1 << 18;
const CT: u32 = 1 << 19;

/// A stream of DMA1 that TIM2's updates request, which come every 200 cycles of the core at least.
fn paced(chip: Chip) -> (Bench, Stream, u32) {
    let mut bench = Bench::new(chip);
    let stream = Stream::of(chip, 1, 1);
    bench.write_register(TIM2 + 0x2c, 199);
    bench.write_register(TIM2 + 0x0c, 1 << 8);
    let channel = if chip == Chip::H743 {
        // DMAMUX1: request 22 for stream 1.
        bench.write_register(0x4002_0804, 22);
        0
    } else {
        3
    };
    (bench, stream, channel)
}

/// Cycles of the core between two updates.
fn period(bench: &Bench) -> u64 {
    200 * bench.chip.clock_frequencies().core_hz / bench.chip.clock_frequencies().timer_hz[0]
}

fn run_timer(bench: &mut Bench, updates: u64) {
    bench.write_register(TIM2 + 0x24, 0);
    bench.write_register(TIM2, 1);
    let cycles = period(bench) * updates + period(bench) / 2;
    bench.step(cycles);
    bench.write_register(TIM2, 0);
}

/// Reads TIM2_ARR, whose low byte is 199, into memory.
fn receive(bench: &Bench, channel: u32, count: u32) -> Job {
    let memory = bench.ram() + 0x100;
    Job { peripheral: TIM2 + 0x2c, memory, count, increments: (false, true), channel, ..Job::default() }
}

#[test]
fn direct_mode_stores_each_item_at_once() {
    for chip in CHIPS {
        let (mut bench, stream, channel) = paced(chip);
        let job = Job { fcr: DIRECT, ..receive(&bench, channel, 8) };
        stream.start(&mut bench, &job);
        for n in 1..=3 {
            run_timer(&mut bench, 1);
            assert_eq!((bench.memories.writes.len(), stream.left(&mut bench)), (n, 8 - n as u32), "{chip:?}");
        }
        assert_eq!(bench.get(job.memory, 4), [199, 199, 199, 0], "{chip:?}");
    }
}

#[test]
fn fifo_is_stored_at_its_threshold() {
    for chip in CHIPS {
        for threshold in 0..4 {
            let (mut bench, stream, channel) = paced(chip);
            let job = Job { fcr: FIFO | threshold, sizes: (0, 2), ..receive(&bench, channel, 64) };
            stream.start(&mut bench, &job);
            let level = 4 * (u64::from(threshold) + 1);
            run_timer(&mut bench, level - 1);
            assert_eq!(bench.memories.writes.len(), 0, "{chip:?} {threshold}");
            assert_eq!(
                bench.read_register(stream.register(5)) >> 3 & 7,
                (level as u32 - 1) / 4,
                "FS of {chip:?} {threshold}"
            );
            run_timer(&mut bench, 1);
            assert_eq!(bench.memories.writes.len() as u64, level / 4, "{chip:?} {threshold}");
            assert_eq!(bench.read_register(stream.register(5)) >> 3 & 7, 4, "empty: {chip:?} {threshold}");
        }
    }
}

#[test]
fn a_stream_that_is_switched_off_stores_what_it_has_read() {
    for chip in CHIPS {
        let (mut bench, stream, channel) = paced(chip);
        let job = Job { fcr: FIFO | 3, sizes: (0, 2), ..receive(&bench, channel, 64) };
        stream.start(&mut bench, &job);
        run_timer(&mut bench, 7);
        let control = bench.read_register(stream.register(0));
        bench.write_register(stream.register(0), control & !1);
        assert!(stream.is_enabled(&mut bench), "{chip:?}: not before the FIFO is empty");
        bench.step(200);
        assert!(!stream.is_enabled(&mut bench), "{chip:?}");
        assert_eq!(bench.get(job.memory, 8), [199, 199, 199, 199, 199, 199, 199, 0], "{chip:?}");
        assert_eq!((stream.left(&mut bench), stream.flags(&mut bench)), (57, (true, false, false)), "{chip:?}");
        // It begins again where its registers say.
        stream.clear_flags(&mut bench);
        bench.write_register(stream.register(0), control);
        run_timer(&mut bench, 16);
        assert_eq!((stream.left(&mut bench), stream.flags(&mut bench).0), (41, false), "{chip:?}");
        run_timer(&mut bench, 41);
        assert_eq!((stream.left(&mut bench), stream.flags(&mut bench).0), (0, true), "{chip:?}");
        assert!(!stream.is_enabled(&mut bench), "{chip:?}");
    }
}

#[test]
fn the_end_of_a_round_is_stored_below_the_threshold() {
    for chip in CHIPS {
        for circular in [false, true] {
            let (mut bench, stream, channel) = paced(chip);
            let job = Job { fcr: FIFO | 3, sizes: (0, 2), circular, ..receive(&bench, channel, 22) };
            stream.start(&mut bench, &job);
            run_timer(&mut bench, 21);
            assert_eq!(stream.flags(&mut bench), (false, true, false), "{chip:?} {circular}");
            run_timer(&mut bench, 1);
            assert_eq!(bench.get(job.memory, 23), [vec![199; 22], vec![0]].concat(), "{chip:?} {circular}");
            assert_eq!(stream.flags(&mut bench), (true, true, false), "{chip:?} {circular}");
            assert_eq!((stream.left(&mut bench), stream.is_enabled(&mut bench)), (22 * u32::from(circular), circular));
        }
    }
}

#[test]
fn bursts_must_fit_to_the_threshold() {
    // RM0090 table 48: memory size, burst code, thresholds that are allowed.
    let cases: [(u32, u32, [bool; 4]); 9] = [
        (0, 1, [true, true, true, true]),
        (0, 2, [false, true, false, true]),
        (0, 3, [false, false, false, true]),
        (1, 1, [false, true, false, true]),
        (1, 2, [false, false, false, true]),
        (1, 3, [false; 4]),
        (2, 1, [false, false, false, true]),
        (2, 2, [false; 4]),
        (2, 3, [false; 4]),
    ];
    for (size, burst, allowed) in cases {
        for (threshold, is_allowed) in (0..4).zip(allowed) {
            let (mut bench, stream, channel) = paced(Chip::F407);
            let job =
                Job { fcr: FIFO | threshold, sizes: (size, size), more: burst << 23, ..receive(&bench, channel, 64) };
            stream.start(&mut bench, &job);
            let error = bench.read_register(stream.base) >> 6 & 1 != 0;
            assert_eq!((stream.is_enabled(&mut bench), error), (is_allowed, !is_allowed), "{size} {burst} {threshold}");
        }
    }
}

#[test]
fn copies_of_memory_always_use_the_fifo() {
    // With direct mode in FCR, bursts that do not fit are an error all the same.
    for (more, is_allowed) in [(0, true), (1 << 21, true), (3 << 21, false), (1 << 23, false)] {
        let mut bench = Bench::new(Chip::F446);
        let stream = Stream::of(Chip::F446, 2, 0);
        let (peripheral, memory) = (super::bench::FLASH, bench.ram());
        let increments = (true, true);
        let job = Job { peripheral, memory, count: 8, increments, sizes: (2, 2), more, ..Job::default() };
        stream.start(&mut bench, &Job { memory_to_memory: true, ..job });
        assert_eq!(
            (stream.is_enabled(&mut bench), bench.read_register(stream.base) & 1 == 0),
            (is_allowed, is_allowed),
            "{more:#x}"
        );
        assert_eq!(bench.read_register(stream.register(5)) & FIFO, FIFO);
        bench.step(1000);
        assert_eq!(bench.memories.writes.len(), if is_allowed { 8 } else { 0 }, "{more:#x}");
    }
}

#[test]
fn a_burst_of_the_peripheral_port_takes_one_request() {
    let (mut bench, stream, channel) = paced(Chip::F446);
    let job = Job { fcr: FIFO | 3, sizes: (1, 1), more: 1 << 21 | 1 << 23, ..receive(&bench, channel, 64) };
    stream.start(&mut bench, &job);
    run_timer(&mut bench, 1);
    assert_eq!((stream.left(&mut bench), bench.memories.writes.len()), (60, 0));
    run_timer(&mut bench, 1);
    assert_eq!((stream.left(&mut bench), bench.memories.writes.len()), (56, 8));
}

#[test]
fn of_two_requests_the_higher_priority_is_served_first() {
    for chip in CHIPS {
        // Priorities of streams 1 and 5, which update and match request in the same cycle, and the one that goes first.
        for (priorities, first) in [((0, 0), 1), ((0, 1), 5), ((2, 1), 1), ((2, 3), 5)] {
            let (mut bench, stream, channel) = paced(chip);
            let other = Stream::of(chip, 1, 5);
            if chip == Chip::H743 {
                bench.write_register(0x4002_0814, 18);
            }
            bench.write_register(TIM2 + 0x0c, 3 << 8);
            let job = receive(&bench, channel, 4);
            stream.start(&mut bench, &Job { priority: priorities.0, ..job });
            other.start(&mut bench, &Job { priority: priorities.1, memory: job.memory + 0x100, ..job });
            run_timer(&mut bench, 1);
            let targets: Vec<u32> = bench.memories.writes.iter().map(|write| write.1 - job.memory).collect();
            assert_eq!(targets, if first == 1 { [0, 0x100] } else { [0x100, 0] }, "{chip:?} {priorities:?}");
        }
    }
}

#[test]
fn two_buffers_take_turns() {
    for chip in CHIPS {
        let (mut bench, stream, channel) = paced(chip);
        let job = Job { fcr: DIRECT, more: DBM, interrupts: true, ..receive(&bench, channel, 2) };
        stream.set_up(&mut bench, &job);
        bench.write_register(stream.register(4), job.memory + 0x10);
        let control = bench.read_register(stream.register(0));
        bench.write_register(stream.register(0), control | 1);
        let targets: [&[u32]; 4] = [&[0, 1], &[0x10, 0x11], &[0x20, 0x21], &[0x10, 0x11]];
        for (round, expected) in targets.into_iter().enumerate() {
            run_timer(&mut bench, 2);
            let seen: Vec<u32> = bench.memories.writes.drain(..).map(|write| write.1 - job.memory).collect();
            assert_eq!(seen, expected, "{chip:?} round {round}");
            assert_eq!(bench.read_register(stream.register(0)) & CT != 0, round % 2 == 0, "{chip:?} round {round}");
            assert_eq!((stream.left(&mut bench), stream.flags(&mut bench)), (2, (true, true, false)), "{chip:?}");
            stream.clear_flags(&mut bench);
            if round == 0 {
                // The first buffer is free, and can be moved. The other one is locked.
                bench.write_register(stream.register(3), job.memory + 0x20);
                bench.write_register(stream.register(4), job.memory + 0x30);
            }
        }
    }
}

#[test]
fn memory_is_read_ahead_of_the_requests() {
    for chip in CHIPS {
        for (fcr, ahead) in [(DIRECT, 1), (FIFO | 3, 16)] {
            let (mut bench, stream, channel) = paced(chip);
            let memory = bench.ram() + 0x100;
            bench.put(memory, &[1; 40]);
            // Into the low byte of CCR1.
            let peripheral = TIM2 + 0x34;
            let increments = (false, true);
            let job =
                Job { peripheral, memory, count: 40, increments, channel, from_memory: true, fcr, ..Job::default() };
            stream.start(&mut bench, &job);
            bench.step(500);
            // What is written now comes too late for the items that are read already.
            bench.put(memory, &[2; 40]);
            let mut seen = Vec::new();
            for _ in 0..40 {
                run_timer(&mut bench, 1);
                seen.push(bench.read_register(peripheral) & 0xff);
            }
            let first_new = seen.iter().position(|value| *value == 2);
            assert_eq!(first_new, Some(ahead), "{chip:?} {fcr} {seen:?}");
            assert_eq!((stream.left(&mut bench), stream.flags(&mut bench)), (0, (true, true, false)), "{chip:?}");
            assert!(!stream.is_enabled(&mut bench), "{chip:?}");
        }
    }
}

#[test]
fn an_ended_stream_takes_its_count_again() {
    for chip in CHIPS {
        let (mut bench, stream, channel) = paced(chip);
        let job = Job { fcr: DIRECT, ..receive(&bench, channel, 3) };
        stream.start(&mut bench, &job);
        run_timer(&mut bench, 3);
        assert_eq!((stream.left(&mut bench), bench.memories.writes.len()), (0, 3), "{chip:?}");
        stream.clear_flags(&mut bench);
        let control = bench.read_register(stream.register(0));
        bench.write_register(stream.register(0), control | 1);
        run_timer(&mut bench, 1);
        assert_eq!((stream.left(&mut bench), bench.memories.writes.len()), (2, 4), "{chip:?}");
    }
}

#[test]
fn offset_of_four_bytes() {
    // PINCOS: the peripheral's addresses go by words, whatever their size is. CCR1 to CCR4.
    let (mut bench, stream, channel) = paced(Chip::F446);
    let memory = bench.ram() + 0x100;
    bench.put(memory, &[1, 2, 3, 4]);
    let job = Job {
        peripheral: TIM2 + 0x34,
        memory,
        count: 4,
        increments: (true, true),
        channel,
        from_memory: true,
        more: 1 << 15,
        ..Job::default()
    };
    stream.start(&mut bench, &job);
    run_timer(&mut bench, 4);
    let values: Vec<u32> = (0..4).map(|n| bench.read_register(TIM2 + 0x34 + 4 * n) & 0xff).collect();
    assert_eq!(values, [1, 2, 3, 4]);
}
