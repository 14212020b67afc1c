//! A chip with memories, without a core: what firmware and time do to DMA.

use rtoslab_periph::stm32::{Chip, DmaBus, Effects, Options, Stm32};

pub const RAM: u32 = 0x2000_0000;
pub const FLASH: u32 = 0x0800_0000;
/// RAM that the DMA of the H7 reaches.
pub const D2_RAM: u32 = 0x3000_0000;
const BYTES: usize = 0x2000;

/// RAM at two places, and flash that nothing writes to. Notes every write: cycle, address, bytes.
pub struct Memories {
    ram: Vec<u8>,
    flash: Vec<u8>,
    pub now: u64,
    pub writes: Vec<(u64, u32, u32)>,
}

impl DmaBus for Memories {
    fn read_memory(&mut self, address: u32, bytes: u32) -> Option<u32> {
        let memory = match address & !0x1fff {
            RAM | D2_RAM => &self.ram,
            FLASH => &self.flash,
            _ => return None,
        };
        let at = (address & 0x1fff) as usize;
        Some((0..bytes as usize).rev().fold(0, |value, n| value << 8 | u32::from(memory[at + n])))
    }

    fn write_memory(&mut self, address: u32, bytes: u32, value: u32) -> Option<bool> {
        match address & !0x1fff {
            RAM | D2_RAM => {
                let at = (address & 0x1fff) as usize;
                self.ram[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                self.writes.push((self.now, address, bytes));
                Some(true)
            }
            FLASH => Some(false),
            _ => None,
        }
    }
}

/// The chip and what it did.
pub struct Bench {
    pub chip: Stm32,
    pub memories: Memories,
    pub effects: Effects,
    pub now: u64,
    /// Bytes of serial ports: cycle, port, byte.
    pub sent: Vec<(u64, u8, u8)>,
}

impl Bench {
    /// A chip at its reset clock with the clocks of all blocks on.
    pub fn new(chip: Chip) -> Bench {
        let gates: &[u32] = match chip {
            Chip::F103 => &[0x4002_1014, 0x4002_1018, 0x4002_101c],
            Chip::L053 | Chip::L073 => &[0x4002_1030, 0x4002_1034, 0x4002_1038, 0x4002_102c],
            Chip::H743 => &[0x5802_44d8, 0x5802_44e0, 0x5802_44e8, 0x5802_44f0],
            _ => &[0x4002_3830, 0x4002_3840, 0x4002_3844],
        };
        let flash = (0..BYTES).map(|n| (n as u8).wrapping_mul(7)).collect();
        let memories = Memories { ram: vec![0; BYTES], flash, now: 0, writes: Vec::new() };
        let chip = Stm32::new(chip, &Options::default());
        let mut bench = Bench { chip, memories, effects: Effects::default(), now: 0, sent: Vec::new() };
        gates.iter().for_each(|&gate| bench.write_register(gate, u32::MAX));
        bench
    }

    /// Where the RAM is that the DMA reaches.
    pub fn ram(&self) -> u32 {
        if self.chip.chip() == Chip::H743 { D2_RAM } else { RAM }
    }

    /// Lets time pass.
    pub fn step(&mut self, cycles: u64) {
        let end = self.now + cycles;
        while self.chip.next_advance_cycle() <= end {
            // What the host sends is due at once.
            let due = self.chip.next_advance_cycle().max(self.now);
            (self.now, self.memories.now) = (due, due);
            self.chip.process_events_until(due, &mut self.effects);
            self.chip.execute_due_dma_transfers(due, &mut self.memories, &mut self.effects);
            self.collect();
        }
        self.now = end;
    }

    fn collect(&mut self) {
        let now = self.now;
        self.sent.extend(self.effects.uart_tx.drain(..).map(|(port, byte)| (now, port, byte)));
    }

    pub fn write_register(&mut self, address: u32, value: u32) {
        self.write_bytes(address, 4, value);
    }

    pub fn write_bytes(&mut self, address: u32, bytes: u32, value: u32) {
        self.chip.write_register(address, bytes, value, self.now, &mut self.effects);
        self.collect();
    }

    pub fn read_register(&mut self, address: u32) -> u32 {
        self.chip.read_register(address, 4, self.now, &mut self.effects)
    }

    /// Puts bytes into RAM.
    pub fn put(&mut self, address: u32, bytes: &[u8]) {
        let at = (address & 0x1fff) as usize;
        self.memories.ram[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Bytes of RAM.
    pub fn get(&self, address: u32, bytes: usize) -> &[u8] {
        let at = (address & 0x1fff) as usize;
        &self.memories.ram[at..at + bytes]
    }

    /// Whether a line of the NVIC is high.
    pub fn irq(&self, line: u16) -> bool {
        self.chip.irq_levels()[usize::from(line / 32)] >> (line % 32) & 1 != 0
    }
}

/// A stream or channel, with its registers whatever the family is.
#[derive(Clone, Copy)]
pub struct Stream {
    pub base: u32,
    pub n: u32,
    pub has_streams: bool,
}

/// What a stream is to do, in the words of both kinds.
#[derive(Clone, Copy, Default)]
pub struct Job {
    pub peripheral: u32,
    pub memory: u32,
    pub count: u32,
    /// log2 of the bytes of a peripheral item and of a memory item.
    pub sizes: (u32, u32),
    /// The memory is read.
    pub from_memory: bool,
    pub memory_to_memory: bool,
    pub increments: (bool, bool),
    pub circular: bool,
    pub priority: u32,
    pub channel: u32,
    /// HTIE, TCIE and TEIE.
    pub interrupts: bool,
    /// FCR, of streams.
    pub fcr: u32,
    /// More bits of CR.
    pub more: u32,
}

impl Stream {
    /// Stream n of a controller (1 or 2). Of F1 and L0: channel n + 1.
    pub fn of(chip: Chip, controller: u32, n: u32) -> Stream {
        let (first, distance, has_streams) = match chip {
            Chip::F103 | Chip::L053 | Chip::L073 => (0x4002_0000, 0x400, false),
            Chip::H743 => (0x4002_0000, 0x400, true),
            _ => (0x4002_6000, 0x400, true),
        };
        Stream { base: first + (controller - 1) * distance, n, has_streams }
    }

    /// Address of a register: CR, NDTR, PAR, M0AR, and of streams M1AR and FCR.
    pub fn register(&self, index: u32) -> u32 {
        self.base + if self.has_streams { 0x10 + 24 * self.n } else { 8 + 20 * self.n } + 4 * index
    }

    fn control(&self, job: &Job) -> u32 {
        let bit = |set: bool, at: u32| u32::from(set) << at;
        let (pinc, minc) = job.increments;
        let bits = if self.has_streams {
            let direction = if job.memory_to_memory { 2 } else { u32::from(job.from_memory) };
            direction << 6
                | bit(job.circular, 8)
                | bit(pinc, 9)
                | bit(minc, 10)
                | job.sizes.0 << 11
                | job.sizes.1 << 13
                | job.priority << 16
                | job.channel << 25
                | if job.interrupts { 0x1c } else { 0 }
        } else {
            bit(job.from_memory, 4)
                | bit(job.circular, 5)
                | bit(pinc, 6)
                | bit(minc, 7)
                | job.sizes.0 << 8
                | job.sizes.1 << 10
                | job.priority << 12
                | bit(job.memory_to_memory, 14)
                | if job.interrupts { 0xe } else { 0 }
        };
        bits | job.more
    }

    /// Sets up a job, without its enable bit.
    pub fn set_up(&self, bench: &mut Bench, job: &Job) {
        bench.write_register(self.register(0), 0);
        bench.write_register(self.register(1), job.count);
        bench.write_register(self.register(2), job.peripheral);
        bench.write_register(self.register(3), job.memory);
        if self.has_streams {
            bench.write_register(self.register(5), job.fcr);
        }
        bench.write_register(self.register(0), self.control(job));
    }

    /// Sets up a job and begins it.
    pub fn start(&self, bench: &mut Bench, job: &Job) {
        self.set_up(bench, job);
        bench.write_register(self.register(0), self.control(job) | 1);
    }

    pub fn left(&self, bench: &mut Bench) -> u32 {
        bench.read_register(self.register(1))
    }

    pub fn is_enabled(&self, bench: &mut Bench) -> bool {
        bench.read_register(self.register(0)) & 1 != 0
    }

    /// (complete, half, error).
    pub fn flags(&self, bench: &mut Bench) -> (bool, bool, bool) {
        if self.has_streams {
            let word = bench.read_register(self.base + 4 * (self.n / 4)) >> [0, 6, 16, 22][self.n as usize % 4];
            (word >> 5 & 1 != 0, word >> 4 & 1 != 0, word >> 3 & 1 != 0)
        } else {
            let word = bench.read_register(self.base) >> (4 * self.n);
            assert_eq!(word & 1 != 0, word & 14 != 0, "GIF is set with any of the others");
            (word >> 1 & 1 != 0, word >> 2 & 1 != 0, word >> 3 & 1 != 0)
        }
    }

    pub fn clear_flags(&self, bench: &mut Bench) {
        if self.has_streams {
            bench.write_register(self.base + 8 + 4 * (self.n / 4), 0x3d << [0, 6, 16, 22][self.n as usize % 4]);
        } else {
            bench.write_register(self.base + 4, 15 << (4 * self.n));
        }
    }
}
