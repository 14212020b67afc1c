//! Transfers at the pace of peripherals: serial ports, SPI, ADC, timers, I2C.

use rtoslab_periph::device::{AttachedDevice, Connection, Device};
use rtoslab_periph::stm32::Chip;

use super::bench::{Bench, Job, RAM, Stream};

/// A wire from MOSI to MISO, and an I2C memory that answers with counting bytes.
#[derive(Clone, Default)]
struct Echo {
    next: u8,
    written: Vec<u8>,
}

impl Device for Echo {
    fn i2c_start(&mut self, _: bool, _: u64) -> bool {
        true
    }

    fn i2c_write(&mut self, byte: u8, _: u64) -> bool {
        self.written.push(byte);
        true
    }

    fn i2c_read(&mut self, _: u64) -> u8 {
        self.next += 1;
        self.next
    }

    fn exchange_frame(&mut self, frame: u32, _: u32, _: u64) -> u32 {
        frame
    }

    fn clone_device(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }
}

/// A serial port of a chip: its number, base and layout, the streams of transmitter and receiver with their selection.
struct Port {
    chip: Chip,
    number: u8,
    base: u32,
    first_layout: bool,
    controller: u32,
    tx: (u32, u32),
    rx: (u32, u32),
}

const PORTS: [Port; 8] = [
    port(Chip::F103, 1, 0x4001_3800, true, 1, (3, 0), (4, 0)),
    port(Chip::F103, 2, 0x4000_4400, true, 1, (6, 0), (5, 0)),
    port(Chip::L073, 2, 0x4000_4400, false, 1, (3, 4), (4, 4)),
    port(Chip::L073, 1, 0x4001_3800, false, 1, (1, 3), (2, 3)),
    port(Chip::F446, 2, 0x4000_4400, true, 1, (6, 4), (5, 4)),
    port(Chip::F411, 2, 0x4000_4400, true, 1, (6, 4), (7, 6)),
    port(Chip::F767, 3, 0x4000_4800, false, 1, (3, 4), (1, 4)),
    port(Chip::H743, 3, 0x4000_4800, false, 2, (0, 46), (7, 45)),
];

const fn port(
    chip: Chip,
    number: u8,
    base: u32,
    first_layout: bool,
    controller: u32,
    tx: (u32, u32),
    rx: (u32, u32),
) -> Port {
    Port { chip, number, base, first_layout, controller, tx, rx }
}

impl Port {
    /// CR1, CR3, BRR, data to receive and data to send.
    fn registers(&self) -> [u32; 5] {
        let offsets = if self.first_layout { [0x0c, 0x14, 0x08, 0x04, 0x04] } else { [0, 8, 0x0c, 0x24, 0x28] };
        offsets.map(|offset| self.base + offset)
    }

    /// Switches the port on, with 160 cycles of its clock a bit.
    fn switch_on(&self, bench: &mut Bench) {
        let [cr1, _, brr, ..] = self.registers();
        bench.write_register(brr, 160);
        bench.write_register(cr1, if self.first_layout { 1 << 13 | 0xc } else { 0xd });
        // The idle frame that the transmitter begins with.
        bench.step(20 * 160 * 4);
    }

    /// The stream of a direction, with the selection of its request. The channel number for CR.
    fn stream(&self, bench: &mut Bench, (n, selection): (u32, u32)) -> (Stream, u32) {
        let stream = Stream::of(self.chip, self.controller, n);
        match self.chip {
            Chip::H743 => {
                bench.write_register(0x4002_0800 + 4 * (8 * (self.controller - 1) + n), selection);
                (stream, 0)
            }
            Chip::L073 => {
                let before = bench.read_register(0x4002_00a8) & !(15 << (4 * n));
                bench.write_register(0x4002_00a8, before | selection << (4 * n));
                (stream, 0)
            }
            _ => (stream, selection),
        }
    }

    /// Core cycles of a byte of ten bits.
    fn byte_cycles(&self, bench: &Bench) -> u64 {
        let clocks = bench.chip.clock_frequencies();
        let is_apb2 = self.base >> 16 == 0x4001;
        1600 * clocks.core_hz / clocks.pclk_hz[usize::from(is_apb2)]
    }
}

#[test]
fn serial_output_has_the_speed_of_the_line() {
    for port in &PORTS {
        let mut bench = Bench::new(port.chip);
        port.switch_on(&mut bench);
        let [_, cr3, _, _, data] = port.registers();
        let (stream, channel) = port.stream(&mut bench, port.tx);
        let memory = bench.ram() + 0x40;
        bench.put(memory, b"direct memory access");
        let job = Job {
            peripheral: data,
            memory,
            count: 20,
            increments: (false, true),
            from_memory: true,
            channel,
            ..Job::default()
        };
        stream.start(&mut bench, &job);
        let start = bench.now;
        bench.step(1000);
        assert_eq!(stream.left(&mut bench), 20, "{:?}: nobody requests", port.chip);
        bench.write_register(cr3, 1 << 7);
        bench.step(40 * port.byte_cycles(&bench));
        let text: Vec<u8> = bench.sent.iter().map(|sent| sent.2).collect();
        assert_eq!(text, b"direct memory access", "{:?} port {}", port.chip, port.number);
        assert!(bench.sent.iter().all(|sent| sent.1 == port.number));
        let times: Vec<u64> = bench.sent.iter().map(|sent| sent.0).collect();
        let pace = port.byte_cycles(&bench);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == pace), "{:?} {pace} {times:?}", port.chip);
        // The first byte begins some bus cycles after the request.
        let latency = times[0] - (start + 1000) - pace;
        let bound = 20 * bench.chip.clock_frequencies().core_hz / bench.chip.clock_frequencies().pclk_hz[0];
        assert!(0 < latency && latency < bound, "{:?} {latency}", port.chip);
        assert_eq!((stream.left(&mut bench), stream.flags(&mut bench)), (0, (true, true, false)), "{:?}", port.chip);
    }
}

#[test]
fn serial_input_goes_round() {
    for port in &PORTS {
        let mut bench = Bench::new(port.chip);
        port.switch_on(&mut bench);
        let [_, cr3, _, data, _] = port.registers();
        let (stream, channel) = port.stream(&mut bench, port.rx);
        let memory = bench.ram() + 0x40;
        let job = Job {
            peripheral: data,
            memory,
            count: 8,
            increments: (false, true),
            circular: true,
            channel,
            ..Job::default()
        };
        stream.start(&mut bench, &job);
        bench.write_register(cr3, 1 << 6);
        let pace = port.byte_cycles(&bench);
        for (text, left, flags) in [
            (&b"abc"[..], 5, (false, false, false)),
            (b"d", 4, (false, true, false)),
            (b"efgh", 8, (true, true, false)),
            (b"ij", 6, (true, true, false)),
        ] {
            bench.chip.send_to_serial_port(port.number, text);
            bench.step(pace * (text.len() as u64 + 1));
            assert_eq!((stream.left(&mut bench), stream.flags(&mut bench)), (left, flags), "{:?} {text:?}", port.chip);
        }
        assert_eq!(bench.get(memory, 9), b"ijcdefgh\0", "{:?}", port.chip);
        assert!(stream.is_enabled(&mut bench));
    }
}

#[test]
fn spi_exchanges_in_both_directions() {
    for (chip, controller, (tx, rx), channels, size) in [
        (Chip::F103, 1, (2, 1), (0, 0), 0),
        (Chip::L073, 1, (2, 1), (1, 1), 0),
        (Chip::F407, 2, (3, 0), (3, 3), 0),
        (Chip::F411, 2, (2, 0), (2, 3), 0),
        (Chip::F446, 2, (5, 2), (3, 3), 1),
        (Chip::F767, 2, (3, 0), (3, 3), 0),
        (Chip::F767, 2, (3, 0), (3, 3), 1),
    ] {
        const SPI1: u32 = 0x4001_3000;
        let mut bench = Bench::new(chip);
        bench.chip.attach_device(Connection::Spi(1, None), AttachedDevice(Box::<Echo>::default())).expect("SPI1");
        if chip == Chip::L073 {
            bench.write_register(0x4002_00a8, channels.0 << (4 * tx) | channels.1 << (4 * rx));
        }
        let (from, to) = (bench.ram() + 0x100, bench.ram() + 0x200);
        bench.put(from, &(1..=32).collect::<Vec<u8>>());
        let channels = if Stream::of(chip, 1, 0).has_streams { channels } else { (0, 0) };
        let job =
            Job { peripheral: SPI1 + 0xc, count: 12, increments: (false, true), sizes: (size, size), ..Job::default() };
        Stream::of(chip, controller, rx)
            .start(&mut bench, &Job { memory: to, priority: 2, channel: channels.1, ..job });
        Stream::of(chip, controller, tx)
            .start(&mut bench, &Job { memory: from, from_memory: true, channel: channels.0, ..job });
        // Frames of the item's size, from one frame in the FIFO on.
        let (wide, fifo) = (size == 1, chip == Chip::F767);
        let frames = if fifo { if wide { 15 << 8 } else { 7 << 8 | 1 << 12 } } else { 0 };
        bench.write_register(SPI1 + 4, frames | 3);
        let format = if wide && !fifo { 1 << 11 } else { 0 };
        bench.write_register(SPI1, format | 1 << 9 | 1 << 8 | 1 << 6 | 1 << 2 | 2 << 3);
        bench.step(60_000);
        let bytes = 12 << size;
        assert_eq!(bench.get(to, bytes + 1), [(1..=bytes as u8).collect(), vec![0]].concat(), "{chip:?} {size}");
        let rx = Stream::of(chip, controller, rx);
        assert_eq!((rx.left(&mut bench), rx.flags(&mut bench)), (0, (true, true, false)), "{chip:?}");
        // Each frame takes its bits: SPI clock / 8.
        let times: Vec<u64> = bench.memories.writes.iter().map(|write| write.0).collect();
        let clocks = bench.chip.clock_frequencies();
        let frame = 8 * (8 << size) * clocks.core_hz / clocks.pclk_hz[1];
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == frame), "{chip:?} {frame} {times:?}");
    }
}

#[test]
fn converter_fills_a_buffer_round_and_round() {
    for (chip, base, controller, (stream, channel)) in [
        (Chip::F103, 0x4001_2400, 1, (0, 0)),
        (Chip::F407, 0x4001_2000, 2, (0, 0)),
        (Chip::F446, 0x4001_2000, 2, (4, 0)),
        (Chip::F767, 0x4001_2000, 2, (4, 0)),
        // ADC3 of the F446.
        (Chip::F446, 0x4001_2200, 2, (1, 2)),
    ] {
        let mut bench = Bench::new(chip);
        bench.chip.set_analog_voltage(1, 1100).expect("PA1");
        bench.chip.set_analog_voltage(2, 2200).expect("PA2");
        let job = Job {
            peripheral: base + 0x4c,
            memory: RAM + 0x80,
            count: 4,
            increments: (false, true),
            sizes: (1, 1),
            circular: true,
            channel,
            ..Job::default()
        };
        let stream = Stream::of(chip, controller, stream);
        stream.start(&mut bench, &job);
        // Two channels, again and again: SCAN, CONT.
        bench.write_register(base + 4, 1 << 8);
        bench.write_register(base + 0x2c, 1 << 20);
        bench.write_register(base + 0x34, 1 | 2 << 5);
        let first = chip == Chip::F103;
        let control = if first { 1 << 8 | 3 | 7 << 17 | 1 << 20 } else { 3 << 8 | 3 };
        bench.write_register(base + 8, 1);
        bench.write_register(base + 8, control);
        bench.write_register(base + 8, control | if first { 1 << 22 } else { 1 << 30 });
        bench.step(5_000);
        let halves: Vec<u16> =
            bench.get(job.memory, 8).chunks(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
        assert_eq!(halves, [1365, 2730, 1365, 2730], "{chip:?}");
        assert!(bench.memories.writes.len() > 30, "{chip:?}: {}", bench.memories.writes.len());
        assert_eq!(stream.flags(&mut bench), (true, true, false), "{chip:?}");
        assert_eq!(bench.read_register(base) & 1 << 5, 0, "no overrun of {chip:?}");
    }
}

#[test]
fn converter_without_dds_ends_with_the_stream() {
    let base = 0x4001_2000;
    for (more, goes_on) in [(0, false), (1 << 9, true)] {
        let mut bench = Bench::new(Chip::F446);
        let job = Job {
            peripheral: base + 0x4c,
            memory: RAM,
            count: 3,
            increments: (false, true),
            sizes: (1, 1),
            ..Job::default()
        };
        let stream = Stream::of(Chip::F446, 2, 0);
        stream.start(&mut bench, &job);
        bench.write_register(base + 8, 1 << 8 | more | 3);
        bench.write_register(base + 8, 1 << 8 | more | 3 | 1 << 30);
        bench.step(2_000);
        assert_eq!(bench.memories.writes.len(), 3);
        // With DDS the converter requests on, and nobody serves it: an overrun.
        assert_eq!(bench.read_register(base) & 1 << 5 != 0, goes_on);
    }
}

#[test]
fn spi_of_the_h743_exchanges_by_dma() {
    const SPI1: u32 = 0x4001_3000;
    let mut bench = Bench::new(Chip::H743);
    bench.chip.attach_device(Connection::Spi(1, None), AttachedDevice(Box::<Echo>::default())).expect("SPI1");
    // Its kernel clock is HSI, and streams 0 and 1 of DMA1 have its requests.
    bench.write_register(0x5802_4450, 4 << 12);
    bench.write_register(0x4002_0800, 37);
    bench.write_register(0x4002_0804, 38);
    let (from, to) = (bench.ram() + 0x100, bench.ram() + 0x200);
    bench.put(from, &(1..=12).collect::<Vec<u8>>());
    let job = Job { count: 12, increments: (false, true), ..Job::default() };
    let (rx, tx) = (Stream::of(Chip::H743, 1, 0), Stream::of(Chip::H743, 1, 1));
    rx.start(&mut bench, &Job { peripheral: SPI1 + 0x30, memory: to, priority: 2, ..job });
    tx.start(&mut bench, &Job { peripheral: SPI1 + 0x20, memory: from, from_memory: true, ..job });
    bench.write_register(SPI1 + 8, 2 << 28 | 3 << 14 | 7);
    bench.write_register(SPI1 + 0xc, 1 << 26 | 1 << 22);
    bench.write_register(SPI1 + 4, 12);
    bench.step(1_000);
    assert!(bench.memories.writes.is_empty() && tx.left(&mut bench) == 12, "no request before SPE");
    bench.write_register(SPI1, 1 << 12 | 1);
    bench.write_register(SPI1, 1 << 12 | 1 << 9 | 1);
    bench.step(20_000);
    assert_eq!(bench.get(to, 13), [(1..=12).collect(), vec![0]].concat());
    assert_eq!((rx.left(&mut bench), rx.flags(&mut bench)), (0, (true, true, false)));
    let times: Vec<u64> = bench.memories.writes.iter().map(|write| write.0).collect();
    let frame = 8 * 8 * bench.chip.clock_frequencies().core_hz / 64_000_000;
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == frame), "{frame} {times:?}");
}

/// Channels of PA1 and PA6 in a converter of L0 or H743, which converts both again and again.
fn converters_of_l0_and_h743(circular: bool, count: u32) -> Vec<(Bench, Stream, u32)> {
    [Chip::L073, Chip::H743]
        .into_iter()
        .map(|chip| {
            let mut bench = Bench::new(chip);
            bench.chip.set_analog_voltage(1, 1100).expect("PA1");
            bench.chip.set_analog_voltage(6, 2200).expect("PA6");
            let base = if chip == Chip::L073 { 0x4001_2400 } else { 0x4002_2000 };
            let stream = Stream::of(chip, 1, 0);
            let memory = bench.ram() + 0x80;
            let job = Job {
                peripheral: base + 0x40,
                memory,
                count,
                increments: (false, true),
                sizes: (1, 1),
                ..Job::default()
            };
            stream.start(&mut bench, &Job { circular, ..job });
            if chip == Chip::L073 {
                bench.write_register(base + 0x10, 3 << 30);
                bench.write_register(base + 0x28, 1 << 6 | 1 << 1);
                bench.write_register(base + 0xc, 1 << 13 | 1 | u32::from(circular) << 1);
                bench.write_register(base + 8, 1);
                bench.write_register(base + 8, 1 | 1 << 2);
            } else {
                bench.write_register(0x4002_0800, 9);
                bench.write_register(base + 0x308, 1 << 16);
                bench.write_register(base + 8, 1 << 28);
                bench.write_register(base + 0x1c, 1 << 17 | 1 << 3);
                bench.write_register(base + 0x30, 3 << 12 | 17 << 6 | 1);
                bench.write_register(base + 0xc, 1 << 31 | 1 << 13 | 6 << 2 | if circular { 3 } else { 1 });
                bench.write_register(base + 8, 1 << 28 | 1);
                bench.write_register(base + 8, 1 << 28 | 1 | 1 << 2);
            }
            bench.step(5_000);
            (bench, stream, base)
        })
        .collect()
}

#[test]
fn later_converters_fill_a_buffer_round_and_round() {
    for (mut bench, stream, base) in converters_of_l0_and_h743(true, 4) {
        let chip = bench.chip.chip();
        let memory = bench.ram() + 0x80;
        let halves: Vec<u16> =
            bench.get(memory, 10).chunks(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
        assert_eq!(halves, [1365, 2730, 1365, 2730, 0], "{chip:?}");
        assert!(bench.memories.writes.len() > 30, "{chip:?}: {}", bench.memories.writes.len());
        assert_eq!(stream.flags(&mut bench), (true, true, false), "{chip:?}");
        assert_eq!(bench.read_register(base) & 1 << 4, 0, "no overrun of {chip:?}");
    }
}

#[test]
fn one_shot_of_later_converters_ends_with_the_stream() {
    for (mut bench, stream, base) in converters_of_l0_and_h743(false, 3) {
        let chip = bench.chip.chip();
        assert_eq!((bench.memories.writes.len(), stream.left(&mut bench)), (3, 0), "{chip:?}");
        assert_eq!(
            (bench.read_register(base + 8) & 1 << 2, bench.read_register(base) & 1 << 4),
            (0, 0),
            "{chip:?} converts no more"
        );
    }
}

#[test]
fn timer_paces_writes_to_a_port() {
    // Four levels of PB0 by TIM2's updates, each 100 timer clocks apart.
    for (chip, controller, n, channel, port) in [
        (Chip::F103, 1, 1, 0, 0x4001_0c10),
        (Chip::F407, 1, 7, 3, 0),
        (Chip::F446, 1, 1, 3, 0),
        (Chip::H743, 2, 3, 22, 0x5802_0418),
    ] {
        let mut bench = Bench::new(chip);
        let tim2 = 0x4000_0000;
        let memory = bench.ram() + 0x20;
        for (word, value) in (0..).zip([1_u32, 1 << 16, 1, 1 << 16]) {
            bench.put(memory + 4 * word, &value.to_le_bytes());
        }
        if chip == Chip::F103 {
            bench.write_register(0x4001_0c00, 3);
        } else if chip == Chip::H743 {
            bench.write_register(0x5802_0400, 1);
            bench.write_register(0x4002_0800 + 4 * (8 + n), channel);
        }
        // DMA1 of an F4 does not reach the ports: CCR1 instead.
        let peripheral = if port == 0 { tim2 + 0x34 } else { port };
        let channel = if chip == Chip::H743 { 0 } else { channel };
        let job = Job {
            peripheral,
            memory,
            count: 4,
            increments: (false, true),
            sizes: (2, 2),
            from_memory: true,
            channel,
            ..Job::default()
        };
        let stream = Stream::of(chip, controller, n);
        stream.start(&mut bench, &job);
        bench.write_register(tim2 + 0x2c, 99);
        bench.write_register(tim2 + 0x0c, 1 << 8);
        bench.write_register(tim2, 1);
        let clocks = bench.chip.clock_frequencies().clone();
        let period = 100 * clocks.core_hz / clocks.timer_hz[0];
        let mut lefts = Vec::new();
        for _ in 0..6 {
            bench.step(period);
            lefts.push(stream.left(&mut bench));
        }
        assert!(lefts == [4, 3, 2, 1, 0, 0] || lefts == [3, 2, 1, 0, 0, 0], "{chip:?} {lefts:?}");
        if port == 0 {
            assert_eq!(bench.read_register(tim2 + 0x34), 1 << 16, "{chip:?}");
            continue;
        }
        let edges: Vec<u64> = bench.effects.pins.iter().map(|change| change.cycle).collect();
        assert_eq!(edges.len(), 4, "{chip:?}");
        assert!(edges.windows(2).all(|pair| pair[1] - pair[0] == period), "{chip:?} {period} {edges:?}");
    }
}

#[test]
fn compare_matches_and_bursts_request_too() {
    let (tim3, chip) = (0x4000_0400, Chip::F446);
    // TIM3_CH1: DMA1 stream 4, channel 5. CC1DE; with CCDS the request comes with the update.
    for (ccds, at) in [(0, 30), (1 << 3, 100)] {
        let mut bench = Bench::new(chip);
        let job = Job {
            peripheral: tim3 + 0x24,
            memory: RAM,
            count: 3,
            increments: (false, true),
            sizes: (1, 1),
            channel: 5,
            ..Job::default()
        };
        Stream::of(chip, 1, 4).start(&mut bench, &job);
        for (offset, value) in [(0x2c, 99), (0x34, 30), (0x04, ccds), (0x0c, 1 << 9), (0x00, 1)] {
            bench.write_register(tim3 + offset, value);
        }
        bench.step(1000);
        let times: Vec<u64> = bench.memories.writes.iter().map(|write| write.0).collect();
        assert_eq!(times.len(), 3, "{ccds}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 100), "{times:?}");
        assert!((at..at + 20).contains(&times[0]), "{ccds}: {times:?}");
    }
    // TIM3_UP: stream 2, channel 5. Two registers a burst, ARR and RCR's place after it is skipped: CCR1 and CCR2.
    let mut bench = Bench::new(chip);
    for (n, value) in (0..).zip([11_u16, 12, 21, 22]) {
        bench.put(RAM + 2 * n, &value.to_le_bytes());
    }
    let job = Job {
        peripheral: tim3 + 0x4c,
        memory: RAM,
        count: 4,
        increments: (false, true),
        sizes: (1, 1),
        from_memory: true,
        channel: 5,
        ..Job::default()
    };
    Stream::of(chip, 1, 2).start(&mut bench, &job);
    for (offset, value) in [(0x2c, 199), (0x48, 13 | 1 << 8), (0x0c, 1 << 8), (0x00, 1)] {
        bench.write_register(tim3 + offset, value);
    }
    for expected in [(11, 12), (21, 22)] {
        bench.step(200 + 60);
        assert_eq!((bench.read_register(tim3 + 0x34), bench.read_register(tim3 + 0x38)), expected);
        bench.step(200 - 120);
    }
}

#[test]
fn captures_request_too() {
    // TIM3's channel 1 hears PA6 (alternate function 2), and requests stream 4 of DMA1 by channel 5.
    const TIM3: u32 = 0x4000_0400;
    let mut bench = Bench::new(Chip::F446);
    bench.write_register(0x4002_0000, 0xa800_2000);
    bench.write_register(0x4002_0020, 2 << 24);
    let job = Job {
        peripheral: TIM3 + 0x34,
        memory: RAM + 0x40,
        count: 3,
        increments: (false, true),
        sizes: (1, 1),
        channel: 5,
        ..Job::default()
    };
    Stream::of(Chip::F446, 1, 4).start(&mut bench, &job);
    for (offset, value) in [(0x18, 1), (0x20, 1), (0x0c, 1 << 9), (0x2c, 0xffff), (0x00, 1)] {
        bench.write_register(TIM3 + offset, value);
    }
    let begin = bench.now;
    for n in 1..=3 {
        bench.step(100 * n);
        let now = bench.now;
        bench.chip.drive_pin(0, 6, true, now, &mut bench.effects);
        bench.step(10);
        let now = bench.now;
        bench.chip.drive_pin(0, 6, false, now, &mut bench.effects);
    }
    bench.step(100);
    assert_eq!(bench.now - begin, 100 + 200 + 300 + 30 + 100);
    let counts: Vec<u16> =
        bench.get(job.memory, 6).chunks(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
    assert_eq!((counts[1] - counts[0], counts[2] - counts[1]), (210, 310), "{counts:?}");
    assert_eq!(bench.read_register(TIM3 + 0x10) & (1 << 9 | 2), 0, "the DMA read each capture in time");
}

#[test]
fn i2c_of_the_f4_receives_and_refuses_the_last_byte() {
    for (chip, stream, channel) in [(Chip::F446, 0, 1), (Chip::F103, 6, 0)] {
        const I2C1: u32 = 0x4000_5400;
        let mut bench = Bench::new(chip);
        bench.chip.attach_device(Connection::I2c(1, 0x50), AttachedDevice(Box::<Echo>::default())).expect("I2C1");
        let job = Job {
            peripheral: I2C1 + 0x10,
            memory: RAM,
            count: 5,
            increments: (false, true),
            channel,
            ..Job::default()
        };
        let stream = Stream::of(chip, 1, stream);
        stream.start(&mut bench, &job);
        bench.write_register(I2C1 + 4, 16 | 1 << 11 | 1 << 12);
        bench.write_register(I2C1 + 0x1c, 40);
        bench.write_register(I2C1, 1 | 1 << 10 | 1 << 8);
        bench.step(1000);
        assert_eq!(bench.read_register(I2C1 + 0x14) & 1, 1, "{chip:?}: started");
        bench.write_register(I2C1 + 0x10, 0xa1);
        bench.step(2000);
        assert_eq!(bench.read_register(I2C1 + 0x14) & 2, 2, "{chip:?}: addressed");
        bench.read_register(I2C1 + 0x18);
        bench.step(20_000);
        // The bus stands still behind the last byte, which was not acknowledged.
        assert_eq!(bench.get(RAM, 6), [1, 2, 3, 4, 5, 0], "{chip:?}");
        assert_eq!((stream.left(&mut bench), bench.read_register(I2C1 + 0x14) & 1 << 6), (0, 0), "{chip:?}");
        bench.write_register(I2C1, 1 | 1 << 10 | 1 << 9);
        bench.step(1000);
        assert_eq!(bench.read_register(I2C1 + 0x18) & 2, 0, "{chip:?}: STOP");
    }
}

#[test]
fn i2c_of_the_later_chips_sends_and_receives() {
    for (chip, number, i2c, tx, rx) in [
        (Chip::L073, 1, 0x4000_5400, (1, 6), (2, 6)),
        (Chip::F767, 1, 0x4000_5400, (6, 1), (5, 1)),
        (Chip::F767, 4, 0x4000_6000, (6, 8), (1, 8)),
        (Chip::H743, 1, 0x4000_5400, (0, 34), (1, 33)),
    ] {
        let mut bench = Bench::new(chip);
        bench.chip.attach_device(Connection::I2c(number, 0x50), AttachedDevice(Box::<Echo>::default())).expect("I2C");
        let port = Port { chip, number: 0, base: i2c, first_layout: false, controller: 1, tx, rx };
        bench.write_register(i2c + 0x10, 0x0101);
        bench.write_register(i2c, 1 | 3 << 14);
        let memory = bench.ram() + 0x30;
        bench.put(memory, &[7, 8, 9, 10]);
        let (stream, channel) = port.stream(&mut bench, tx);
        let job = Job {
            peripheral: i2c + 0x28,
            memory,
            count: 4,
            increments: (false, true),
            from_memory: true,
            channel,
            ..Job::default()
        };
        stream.start(&mut bench, &job);
        bench.write_register(i2c + 4, 0xa0 | 4 << 16 | 1 << 25 | 1 << 13);
        bench.step(40_000);
        assert_eq!(stream.left(&mut bench), 0, "{chip:?}");
        assert_eq!(bench.read_register(i2c + 0x18) >> 5 & 1, 1, "{chip:?}: STOP after four bytes");
        bench.write_register(i2c + 0x1c, 1 << 5);
        let (stream, channel) = port.stream(&mut bench, rx);
        let job =
            Job { peripheral: i2c + 0x24, memory, count: 3, increments: (false, true), channel, ..Job::default() };
        stream.start(&mut bench, &job);
        bench.write_register(i2c + 4, 0xa0 | 3 << 16 | 1 << 25 | 1 << 13 | 1 << 10);
        bench.step(40_000);
        assert_eq!(bench.get(memory, 4), [1, 2, 3, 10], "{chip:?}");
        assert_eq!((stream.left(&mut bench), stream.flags(&mut bench).0), (0, true), "{chip:?}");
    }
}
