//! Streams of F4, F7 and H7 (RM0090 chapter 10, RM0410 chapter 8, RM0433 chapter 16): a peripheral port, a memory port,
//! and between them a FIFO of 16 bytes for each stream.

use super::{Burst, DmaRequestOutcome, OccupiedDmaPort, Port, STREAMS, Transfer, View, datum_byte_count};
use crate::NEVER;

const EN: u32 = 1;
const DMEIE_TO_TCIE: u32 = 0x1e;
const CIRC: u32 = 1 << 8;
const PINC: u32 = 1 << 9;
const MINC: u32 = 1 << 10;
const PINCOS: u32 = 1 << 15;
const DBM: u32 = 1 << 18;
const CT: u32 = 1 << 19;
const DMDIS: u32 = 1 << 2;
const FEIE: u32 = 1 << 7;
const FCR_RESET: u32 = 0x21;
/// Flags of a stream, as in the lowest bits of LISR.
const FEIF: u32 = 1;
const TEIF: u32 = 1 << 3;
const HTIF: u32 = 1 << 4;
const TCIF: u32 = 1 << 5;
const ALL_FLAGS: u32 = 0x3d;
/// Places of four streams' flags in LISR and HISR.
const SHIFTS: [u32; 4] = [0, 6, 16, 22];
const FIFO_BYTES: u32 = 16;

/// The direction of a stream's transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DmaTransferDirection {
    PeripheralToMemory,
    MemoryToPeripheral,
    MemoryToMemory,
}

/// The FIFO of a DMA stream: bytes on their way from one port to the other.
#[derive(Debug, Clone, Copy, Default)]
struct Fifo {
    bytes: [u8; FIFO_BYTES as usize],
    len: u32,
}

impl Fifo {
    /// Returns the number of bytes for which the FIFO has room.
    fn free_byte_count(&self) -> u32 {
        FIFO_BYTES - self.len
    }

    /// Appends bytes to the FIFO, which must have room for them.
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len as usize;
        self.bytes[end..end + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len() as u32;
    }

    /// Returns the FIFO's oldest `count` bytes.
    fn oldest_dma_fifo_bytes(&self, count: u32) -> [u8; 16] {
        let mut head = [0; 16];
        head[..count as usize].copy_from_slice(&self.bytes[..count as usize]);
        head
    }

    /// Removes the oldest `count` bytes from the FIFO, or all if it has fewer.
    fn drop_first_bytes(&mut self, count: u32) {
        let count = count.min(self.len);
        self.bytes.copy_within(count as usize..self.len as usize, 0);
        self.len -= count;
    }
}

/// One stream of a DMA controller of F4, F7 or H7.
#[derive(Debug, Clone, Copy)]
struct Stream {
    cr: u32,
    /// Items of the peripheral port that are left.
    ndtr: u32,
    /// NDTR as it was written.
    reload: u32,
    par: u32,
    mar: [u32; 2],
    fcr: u32,
    fifo: Fifo,
    /// Addresses of the next items.
    peripheral: u32,
    memory: u32,
    /// Bytes of the memory port that are left of this round.
    memory_left: u32,
    /// The buffer that the memory port is in, with DBM.
    buffer: usize,
    /// The memory port fills the FIFO, or empties it.
    moves: bool,
    /// Firmware has switched the stream off, and it is not idle yet.
    stops: bool,
}

impl Stream {
    const RESET: Stream = Stream {
        cr: 0,
        ndtr: 0,
        reload: 0,
        par: 0,
        mar: [0; 2],
        fcr: FCR_RESET,
        fifo: Fifo { bytes: [0; 16], len: 0 },
        peripheral: 0,
        memory: 0,
        memory_left: 0,
        buffer: 0,
        moves: false,
        stops: false,
    };

    /// Returns whether firmware has enabled the stream (CR.EN).
    fn is_enabled(&self) -> bool {
        self.cr & EN != 0
    }

    /// Returns the direction of the stream's transfers (CR.DIR).
    fn direction(&self) -> DmaTransferDirection {
        match self.cr >> 6 & 3 {
            0 => DmaTransferDirection::PeripheralToMemory,
            1 => DmaTransferDirection::MemoryToPeripheral,
            _ => DmaTransferDirection::MemoryToMemory,
        }
    }

    /// Returns whether the stream transfers each item at once, without waiting for the FIFO's threshold.
    fn is_fifo_bypassed(&self) -> bool {
        self.fcr & DMDIS == 0
    }

    /// Returns whether the stream starts again after its last item, because it is circular or has two buffers.
    fn is_dma_stream_circular(&self) -> bool {
        self.cr & (CIRC | DBM) != 0
    }

    /// Returns the stream's priority level (CR.PL): 0 is low, 3 is very high.
    fn priority(&self) -> u32 {
        self.cr >> 16 & 3
    }

    /// Returns the bytes of an item at the peripheral port: 1, 2 or 4.
    fn peripheral_item_bytes(&self) -> u32 {
        datum_byte_count(self.cr >> 11)
    }

    /// Returns the bytes of an item at the memory port. In direct mode it has the size of the peripheral's.
    fn memory_port_item_bytes(&self) -> u32 {
        if self.is_fifo_bypassed() { self.peripheral_item_bytes() } else { datum_byte_count(self.cr >> 13) }
    }

    /// Returns the number of accesses in a burst, by its field in CR. Always 1 in direct mode.
    fn accesses_in_burst(&self, shift: u32) -> u32 {
        if self.is_fifo_bypassed() { 1 } else { [1, 4, 8, 16][(self.cr >> shift & 3) as usize] }
    }

    /// Returns the number of bytes at which the FIFO is written to memory, or filled again.
    fn fifo_threshold_bytes(&self) -> u32 {
        4 * ((self.fcr & 3) + 1)
    }

    /// Returns the bytes of a round of transfers, until the count is reloaded.
    fn total_bytes(&self) -> u32 {
        self.reload * self.peripheral_item_bytes()
    }

    /// Returns the number of items that are left when half of a round is done.
    fn items_left_at_half_transfer(&self) -> u32 {
        self.reload - self.reload / 2
    }

    /// Returns whether the bursts of both ports fit into the FIFO, and its threshold is a multiple of the memory port's
    /// burst (RM0090 table 48). Returns true in direct mode, without the FIFO.
    fn do_bursts_fit_fifo(&self) -> bool {
        let burst = self.accesses_in_burst(23) * self.memory_port_item_bytes();
        let bursts = burst <= FIFO_BYTES
            && (self.accesses_in_burst(23) == 1 || self.fifo_threshold_bytes().is_multiple_of(burst));
        self.is_fifo_bypassed() || bursts && self.accesses_in_burst(21) * self.peripheral_item_bytes() <= FIFO_BYTES
    }

    /// Returns the first address of the memory port's present buffer.
    fn current_memory_buffer_address(&self) -> u32 {
        self.mar[if self.cr & DBM != 0 { self.buffer } else { 0 }]
    }

    /// Begins a round of transfers with the addresses and the count in the registers.
    fn begin_transfer_repetition(&mut self) {
        if self.ndtr == 0 {
            self.ndtr = self.reload;
        }
        self.buffer = usize::from(self.cr & CT != 0);
        self.fifo.len = 0;
        (self.peripheral, self.memory) = (self.par, self.current_memory_buffer_address());
        self.memory_left = self.ndtr * self.peripheral_item_bytes();
        (self.moves, self.stops) = (self.direction() == DmaTransferDirection::MemoryToPeripheral, false);
    }

    /// Returns the next burst of the peripheral port. `is_requested`: by the peripheral.
    fn next_peripheral_burst(&self, is_requested: bool) -> Option<Burst> {
        let direction = self.direction();
        let may_move = is_requested || direction == DmaTransferDirection::MemoryToMemory && !self.moves;
        if !self.is_enabled() || self.stops || self.ndtr == 0 || !may_move {
            return None;
        }
        let bytes = self.peripheral_item_bytes();
        let beats = self.accesses_in_burst(21).min(self.ndtr);
        let fits = if direction == DmaTransferDirection::MemoryToPeripheral {
            self.fifo.len >= beats * bytes
        } else {
            self.fifo.free_byte_count() >= beats * bytes
        };
        let step = match (self.cr & PINC != 0, self.cr & PINCOS != 0) {
            (false, _) => 0,
            (true, false) => bytes,
            (true, true) => 4,
        };
        fits.then_some(Burst { port: Port::Peripheral, address: self.peripheral, bytes, beats, step })
    }

    /// Returns the next burst of the memory port.
    fn next_memory_burst(&self) -> Option<Burst> {
        if !self.is_enabled() || self.memory_left == 0 {
            return None;
        }
        let bytes = self.memory_port_item_bytes();
        let most = if self.direction() == DmaTransferDirection::MemoryToPeripheral {
            let may_fill = if self.is_fifo_bypassed() { self.fifo.len == 0 } else { self.moves };
            if !may_fill || self.stops {
                return None;
            }
            self.fifo.free_byte_count().min(self.memory_left.next_multiple_of(bytes))
        } else {
            // All that is left of a round is in the FIFO, or it must be emptied.
            let is_forced = self.fifo.len >= self.memory_left || self.stops;
            if self.fifo.len == 0 || !(self.is_fifo_bypassed() || self.moves || is_forced) {
                return None;
            }
            self.fifo.len.min(self.memory_left)
        };
        let step = |bytes: u32| if self.cr & MINC != 0 { bytes } else { 0 };
        let burst = |bytes: u32, beats: u32| {
            Some(Burst { port: Port::Memory, address: self.memory, bytes, beats, step: step(bytes) })
        };
        match most / bytes {
            // The last bytes do not make an item of this size.
            0 if self.direction() != DmaTransferDirection::MemoryToPeripheral => burst(1, most),
            0 => None,
            items if items >= self.accesses_in_burst(23) => burst(bytes, self.accesses_in_burst(23)),
            _ => burst(bytes, 1),
        }
    }

    /// Starts and ends the filling and emptying of the FIFO by the memory port.
    fn update_fifo_memory_transfers(&mut self) {
        if self.direction() == DmaTransferDirection::MemoryToPeripheral {
            self.moves = match self.moves {
                true => self.fifo.free_byte_count() >= self.memory_port_item_bytes() * self.accesses_in_burst(23),
                false => self.fifo.len <= self.fifo_threshold_bytes().min(FIFO_BYTES - 4),
            };
        } else {
            let least = if self.moves { self.memory_port_item_bytes() } else { self.fifo_threshold_bytes() };
            self.moves = self.fifo.len >= least;
        }
    }
}

/// A DMA controller of F4, F7 or H7, with eight streams.
#[derive(Debug, Clone)]
pub struct StreamDma {
    streams: [Stream; STREAMS],
    flags: [u32; STREAMS],
    /// Channels that a stream selects (0 on the H7, where a DMAMUX does).
    channel_mask: u32,
    /// Grants of the peripheral port and the memory port.
    granted: [Option<OccupiedDmaPort>; 2],
}

impl StreamDma {
    /// Creates a controller in its reset state. `channel_mask`: the bits of a channel number.
    pub(in crate::stm32) fn new(channel_mask: u32) -> Self {
        Self { streams: [Stream::RESET; STREAMS], flags: [0; STREAMS], channel_mask, granted: [None; 2] }
    }

    /// Puts the controller's registers to their reset values.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.channel_mask);
    }

    /// Returns, for each stream, the request number that firmware selected. `None` for a stream that awaits no
    /// peripheral.
    pub(super) fn request_selections(&self) -> [Option<u32>; STREAMS] {
        self.streams.map(|stream| {
            let waits = stream.is_enabled() && stream.direction() != DmaTransferDirection::MemoryToMemory;
            waits.then_some(stream.cr >> 25 & self.channel_mask)
        })
    }

    /// Returns whether a transfer is under way or a stream is enabled.
    pub(super) fn is_dma_active(&self) -> bool {
        self.granted.iter().any(Option::is_some) || self.streams.iter().any(Stream::is_enabled)
    }

    /// Begins a transfer at cycle `now` on each of the two ports that is free.
    pub(super) fn begin_transfers(&mut self, now: u64, view: &View) {
        for port in [Port::Peripheral, Port::Memory] {
            if self.granted[port as usize].is_none() {
                self.granted[port as usize] = self.next_transfer_on_port(port, now, view);
            }
        }
    }

    /// Returns the next transfer on a free port: of the stream with the highest priority, and of several the lowest
    /// number. Both ports never serve the same stream at once.
    fn next_transfer_on_port(&self, port: Port, now: u64, view: &View) -> Option<OccupiedDmaPort> {
        let is_elsewhere = |n: usize| self.granted.iter().flatten().any(|grant| grant.transfer.stream == n);
        let burst = |n: usize| match port {
            Port::Peripheral => self.streams[n].next_peripheral_burst(view.is_requested(n)),
            Port::Memory => self.streams[n].next_memory_burst(),
        };
        let ready = (0..STREAMS).filter(|&n| !is_elsewhere(n)).filter_map(|n| burst(n).map(|burst| (n, burst)));
        let (n, burst) = ready.max_by_key(|&(n, _)| (self.streams[n].priority(), STREAMS - n))?;
        let stream = &self.streams[n];
        let reads = (port == Port::Memory) == (stream.direction() == DmaTransferDirection::MemoryToPeripheral);
        let data = if reads { [0; 16] } else { stream.fifo.oldest_dma_fifo_bytes(burst.bytes * burst.beats) };
        let (read, write) = if reads { (Some(burst), None) } else { (None, Some(burst)) };
        // The peripheral port arbitrates between requests. Both compute an address.
        let own = if port == Port::Peripheral { 2 } else { 1 };
        let end = now + view.core_cycles_of_ahb_cycles(own) + view.burst_cycles(&burst);
        Some(OccupiedDmaPort { transfer: Transfer { stream: n, read, write, data }, end })
    }

    /// Removes the first transfer that has ended by cycle `now` and returns it.
    pub(super) fn take_ended_transfer(&mut self, now: u64) -> Option<Transfer> {
        let grants = self.granted.iter_mut().filter(|grant| grant.is_some_and(|grant| grant.end <= now));
        let first = grants.min_by_key(|grant| grant.map_or(NEVER, |grant| grant.end))?;
        first.take().map(|grant| grant.transfer)
    }

    /// Counts a transfer that was carried out. `data` is `None` after a bus error. Returns what the requesting
    /// peripheral is told, if there is one.
    pub(super) fn count_finished_transfer(
        &mut self,
        transfer: &Transfer,
        data: Option<[u8; 16]>,
    ) -> Option<DmaRequestOutcome> {
        let n = transfer.stream;
        let burst = transfer.read.or(transfer.write)?;
        let Some(data) = data else {
            self.disable_failed_stream(n, TEIF);
            return None;
        };
        let stream = &mut self.streams[n];
        // The transfer itself, to a register, may have switched its stream off.
        if !stream.is_enabled() {
            return None;
        }
        let bytes = burst.bytes * burst.beats;
        match transfer.read {
            Some(_) => stream.fifo.push(&data[..bytes as usize]),
            None => stream.fifo.drop_first_bytes(bytes),
        }
        let served = match burst.port {
            Port::Peripheral => Some(self.count_finished_peripheral_burst(n, &burst)),
            Port::Memory => {
                self.count_finished_memory_burst(n, &burst);
                None
            }
        };
        self.streams[n].update_fifo_memory_transfers();
        self.stop_idle_stream(n);
        served.filter(|_| self.streams[n].direction() != DmaTransferDirection::MemoryToMemory)
    }

    /// Counts the items of a completed burst on the peripheral port.
    fn count_finished_peripheral_burst(&mut self, n: usize, burst: &Burst) -> DmaRequestOutcome {
        let stream = &mut self.streams[n];
        let before = stream.ndtr;
        stream.ndtr = before.saturating_sub(burst.beats);
        stream.peripheral = stream.peripheral.wrapping_add(burst.beats * burst.step);
        let (left, circular) = (stream.ndtr, stream.is_dma_stream_circular());
        if left == 0 && circular {
            stream.ndtr = stream.reload;
            stream.peripheral = stream.par;
        }
        if stream.direction() == DmaTransferDirection::MemoryToPeripheral {
            self.count_transferred_items(n, 1, before, left);
        }
        DmaRequestOutcome { left, is_last: left == 0 && !circular }
    }

    /// Counts the bytes of a completed burst on the memory port.
    fn count_finished_memory_burst(&mut self, n: usize, burst: &Burst) {
        let stream = &mut self.streams[n];
        let before = stream.memory_left;
        stream.memory_left = before.saturating_sub(burst.bytes * burst.beats);
        stream.memory = stream.memory.wrapping_add(burst.beats * burst.step);
        let left = stream.memory_left;
        if left == 0 && stream.is_dma_stream_circular() {
            stream.buffer ^= 1;
            stream.memory = stream.current_memory_buffer_address();
            stream.memory_left = stream.total_bytes();
        }
        if stream.direction() != DmaTransferDirection::MemoryToPeripheral {
            self.count_transferred_items(n, self.streams[n].peripheral_item_bytes(), before, left);
        }
    }

    /// Sets the flags of half and complete transfer, when the units left fall from `before` to `left`, and ends the
    /// round or the stream. `units` is the number of units of an item.
    fn count_transferred_items(&mut self, n: usize, units: u32, before: u32, left: u32) {
        let half = self.streams[n].items_left_at_half_transfer() * units;
        if self.streams[n].reload > 1 && before > half && left <= half {
            self.flags[n] |= HTIF;
        }
        if left == 0 {
            self.flags[n] |= TCIF;
            let stream = &mut self.streams[n];
            match stream.is_dma_stream_circular() {
                true if stream.cr & DBM != 0 => stream.cr ^= CT,
                true => {}
                false => stream.cr &= !EN,
            }
        }
    }

    /// Disables a stream because of an error, and sets the error's flag.
    fn disable_failed_stream(&mut self, n: usize, flag: u32) {
        self.flags[n] |= flag;
        self.streams[n].cr &= !EN;
        self.streams[n].fifo.len = 0;
        for grant in &mut self.granted {
            grant.take_if(|grant| grant.transfer.stream == n);
        }
    }

    /// Ends a stream that firmware has disabled, if its ports are idle and its FIFO is empty.
    fn stop_idle_stream(&mut self, n: usize) {
        let busy = self.granted.iter().flatten().any(|grant| grant.transfer.stream == n);
        let stream = &mut self.streams[n];
        let stores = stream.direction() != DmaTransferDirection::MemoryToPeripheral && stream.fifo.len != 0;
        if stream.stops && !busy && !(stores && stream.is_enabled()) {
            stream.stops = false;
            if stream.is_enabled() {
                stream.cr &= !EN;
                self.flags[n] |= TCIF;
            }
        }
    }

    /// Returns the number of the first of the four streams whose flags are in the register at an offset.
    fn first_dma_stream_in_flag_register(offset: u32) -> usize {
        if offset & 4 == 0 { 0 } else { 4 }
    }

    /// Returns the stream and the number of its register at an offset.
    fn stream_and_register_at(offset: u32) -> Option<(usize, u32)> {
        let at = offset.checked_sub(0x10)?;
        let (n, register) = ((at / 24) as usize, at % 24 / 4);
        (n < STREAMS).then_some((n, register))
    }

    /// Returns the value of the controller's register at a byte offset.
    pub(super) fn register_value(&self, offset: u32) -> u32 {
        match (offset, Self::stream_and_register_at(offset)) {
            (0x00 | 0x04, _) => {
                let first = Self::first_dma_stream_in_flag_register(offset);
                SHIFTS.iter().zip(&self.flags[first..]).fold(0, |word, (shift, flags)| word | flags << shift)
            }
            (_, Some((n, register))) => {
                let stream = &self.streams[n];
                let level = match (stream.fifo.len, stream.fifo.len / 4) {
                    (0, _) => 4,
                    (FIFO_BYTES, _) => 5,
                    (_, quarter) => quarter,
                };
                let fcr = stream.fcr | level << 3;
                [stream.cr, stream.ndtr, stream.par, stream.mar[0], stream.mar[1], fcr][register as usize]
            }
            _ => 0,
        }
    }

    /// Writes the controller's register at a byte offset.
    pub(super) fn write_dma_register(&mut self, offset: u32, value: u32) {
        match (offset, Self::stream_and_register_at(offset)) {
            (0x08 | 0x0c, _) => {
                let first = Self::first_dma_stream_in_flag_register(offset);
                for (shift, flags) in SHIFTS.iter().zip(&mut self.flags[first..]) {
                    *flags &= !(value >> shift & ALL_FLAGS);
                }
            }
            (_, Some((n, 0))) => self.write_control(n, value),
            (_, Some((n, register))) => self.write_stream_register(n, register, value),
            _ => {}
        }
    }

    /// Writes a register of a stream. Most are locked while the stream is enabled. With two buffers, the address of the
    /// one that is not in use can change.
    fn write_stream_register(&mut self, n: usize, register: u32, value: u32) {
        let stream = &mut self.streams[n];
        let locked = stream.is_enabled();
        let other = usize::from(stream.cr & CT == 0);
        match register {
            1 if !locked => (stream.ndtr, stream.reload) = (value & 0xffff, value & 0xffff),
            2 if !locked => stream.par = value,
            3 | 4 => {
                let index = register as usize - 3;
                if !locked || stream.cr & DBM != 0 && index == other {
                    stream.mar[index] = value;
                }
            }
            5 if locked => stream.fcr = stream.fcr & !FEIE | value & FEIE,
            5 => stream.fcr = value & (FEIE | 7),
            _ => {}
        }
    }

    /// Writes CR.
    fn write_control(&mut self, n: usize, value: u32) {
        let channels = self.channel_mask << 25;
        let stream = &mut self.streams[n];
        match (stream.is_enabled(), value & EN != 0) {
            (true, enables) => {
                stream.cr = stream.cr & !DMEIE_TO_TCIE | value & DMEIE_TO_TCIE;
                stream.stops = !enables;
                self.stop_idle_stream(n);
            }
            (false, enables) => {
                stream.cr = value & (0x01ff_ffff & !(1 << 20) | channels) & !EN;
                if !enables {
                    return;
                }
                // Between memories there is no direct mode.
                if stream.direction() == DmaTransferDirection::MemoryToMemory {
                    stream.fcr |= DMDIS;
                }
                if !stream.do_bursts_fit_fifo() {
                    self.flags[n] |= FEIF;
                    return;
                }
                stream.cr |= EN;
                stream.begin_transfer_repetition();
            }
        }
    }

    /// Returns whether the register at an offset clears each flag to whose bit 1 is written.
    pub(super) fn is_flag_clear_register(&self, offset: u32) -> bool {
        matches!(offset, 0x08 | 0x0c)
    }

    /// Returns the core cycle at which the next transfer ends, or [`NEVER`].
    pub(super) fn next_transfer_end(&self) -> u64 {
        self.granted.iter().flatten().map(|grant| grant.end).min().unwrap_or(NEVER)
    }

    /// Returns the levels of the interrupt outputs, a bit for each stream. The enables in CR are a bit below their
    /// flags.
    pub(super) fn interrupt_outputs(&self) -> u32 {
        let wants = |n: &usize| {
            let (stream, flags) = (&self.streams[*n], self.flags[*n]);
            let enabled = stream.cr << 1 & ALL_FLAGS & !FEIF | u32::from(stream.fcr & FEIE != 0);
            flags & enabled != 0
        };
        (0..STREAMS).filter(wants).fold(0, |lines, n| lines | 1 << n)
    }
}
