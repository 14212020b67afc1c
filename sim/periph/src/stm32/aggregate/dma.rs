//! DMA: which streams are requested, who may reach what, and the transfers themselves.

use super::Stm32;
use crate::stm32::chips::Chip;
use crate::stm32::clocks::Bus;
use crate::stm32::dma::lines::{self, Signal};
use crate::stm32::dma::{Burst, DmaBus, Port, STREAMS, Transfer, View};
use crate::stm32::effects::Effects;
use crate::stm32::slots::Place;

/// A peripheral that can request transfers of a DMA stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Source {
    slot: usize,
    place: Place,
    signal: Signal,
}

/// The DMA controllers of a chip, and the peripherals that request their streams.
#[derive(Debug, Clone, Default)]
pub(super) struct DmaWiring {
    /// Slot of each controller, in the order of `Stm32::dmas`.
    slots: Vec<usize>,
    /// The peripherals that request each stream that waits for one.
    sources: Vec<[Vec<Source>; STREAMS]>,
    /// Any stream is enabled. Otherwise nothing here costs anything.
    is_active: bool,
    /// Transfers are being made, and no port is granted.
    is_running: bool,
}

impl DmaWiring {
    /// Adds the DMA controller in this slot.
    pub fn add_dma_controller(&mut self, slot: usize) {
        self.slots.push(slot);
        self.sources.push(Default::default());
    }
}

impl Stm32 {
    /// Returns whether a transfer must be made by cycle `now`.
    #[inline]
    #[must_use]
    pub fn has_dma_due(&self, now: u64) -> bool {
        self.wiring.is_active && self.wiring.slots.iter().any(|&slot| self.dues[slot] <= now)
    }

    /// Makes all transfers that are due by `now`. The machine calls it after [`Stm32::process_events_until`].
    pub fn execute_due_dma_transfers(&mut self, now: u64, bus: &mut dyn DmaBus, effects: &mut Effects) {
        while self.has_dma_due(now) {
            self.wiring.is_running = true;
            for c in 0..self.dmas.len() {
                while let Some(transfer) = self.dmas[c].take_ended_transfer(now) {
                    self.execute_dma_transfer(c, &transfer, now, bus, effects);
                }
            }
            self.wiring.is_running = false;
            self.update_dma_controllers(now);
        }
        self.wiring.is_active = self.dmas.iter().any(super::Dma::is_dma_active);
    }

    /// Makes a DMA transfer, and notifies the peripheral that requested it.
    fn execute_dma_transfer(
        &mut self,
        c: usize,
        transfer: &Transfer,
        now: u64,
        bus: &mut dyn DmaBus,
        effects: &mut Effects,
    ) {
        let sources = self.wiring.sources[c][transfer.stream].iter();
        let requesting: Vec<Source> = sources.filter(|source| self.is_dma_requested(source)).copied().collect();
        let mut data = Some(transfer.data);
        if let Some(burst) = &transfer.read {
            data = self.read_dma_burst(c, burst, now, bus, effects);
        }
        if let Some(burst) = &transfer.write {
            data = data.filter(|data| self.write_dma_burst(c, burst, data, now, bus, effects));
        }
        if let Some(served) = self.dmas[c].count_finished_transfer(transfer, data) {
            for source in requesting {
                self.acknowledge_dma(&source, served.left, served.is_last);
                self.update_peripheral_block_outputs(source.slot);
            }
        }
    }

    /// Reads a burst of a DMA controller. `None` after a bus error.
    fn read_dma_burst(
        &mut self,
        c: usize,
        burst: &Burst,
        now: u64,
        bus: &mut dyn DmaBus,
        effects: &mut Effects,
    ) -> Option<[u8; 16]> {
        let mut data = [0; 16];
        for beat in 0..burst.beats {
            let address = burst.address.wrapping_add(beat * burst.step) & !(burst.bytes - 1);
            if !self.is_dma_port_connected(c, burst.port, address) {
                return None;
            }
            let value = match bus.read_memory(address, burst.bytes) {
                Some(value) => value,
                None => self.bus_at_address(address).map(|_| self.read_register(address, burst.bytes, now, effects))?,
            };
            let (at, bytes) = ((beat * burst.bytes) as usize, burst.bytes as usize);
            data[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        Some(data)
    }

    /// Writes a burst of a DMA controller. Returns false after a bus error.
    fn write_dma_burst(
        &mut self,
        c: usize,
        burst: &Burst,
        data: &[u8; 16],
        now: u64,
        bus: &mut dyn DmaBus,
        effects: &mut Effects,
    ) -> bool {
        (0..burst.beats).all(|beat| {
            let address = burst.address.wrapping_add(beat * burst.step) & !(burst.bytes - 1);
            if !self.is_dma_port_connected(c, burst.port, address) {
                return false;
            }
            let at = (beat * burst.bytes) as usize;
            let value = (0..burst.bytes as usize).rev().fold(0, |value, n| value << 8 | u32::from(data[at + n]));
            if let Some(done) = bus.write_memory(address, burst.bytes, value) {
                return done;
            }
            let is_register = self.bus_at_address(address).is_some();
            if is_register {
                self.write_register(address, burst.bytes, value, now, effects);
            }
            is_register
        })
    }

    /// Returns whether a port of a controller is connected to an address (RM0008 3.1, RM0367 2.1, RM0090 2.1, RM0410
    /// 2.1, RM0433 2.1).
    fn is_dma_port_connected(&self, c: usize, port: Port, address: u32) -> bool {
        let (bus, chip) = (self.bus_at_address(address), self.spec.chip);
        if matches!(bus, Some(Bus::IoPort | Bus::Ppb)) || address >= 0xe000_0000 {
            return false;
        }
        let is_core_only = match chip {
            Chip::F407 => address >> 16 == 0x1000,
            Chip::F767 => address < 0x0400_0000,
            Chip::H743 => address < 0x0400_0000 || address >> 20 == 0x200,
            _ => false,
        };
        // The peripheral port of DMA1 leads to APB1 alone, and its memory port to memories.
        let is_narrow = c == 0 && matches!(chip, Chip::F407 | Chip::F411 | Chip::F446 | Chip::F767);
        let is_connected = match port {
            _ if !is_narrow => true,
            Port::Peripheral => bus == Some(Bus::Apb1),
            Port::Memory => bus.is_none(),
        };
        is_connected && !is_core_only
    }

    /// Returns whether a peripheral requests a transfer now.
    fn is_dma_requested(&self, source: &Source) -> bool {
        let either = |(tx, rx): (bool, bool)| if source.signal == Signal::Tx { tx } else { rx };
        match (source.place, source.signal) {
            (Place::Usart(n), _) => either(self.usarts[usize::from(n)].dma_requests()),
            (Place::Spi(n), _) => either(self.spis[usize::from(n)].dma_requests()),
            (Place::SpiH7(n), _) => either(self.spis_h7[usize::from(n)].dma_requests()),
            (Place::I2cV1(n), _) => either(self.i2cs_v1[usize::from(n)].dma_requests()),
            (Place::I2cV2(n), _) => either(self.i2cs_v2[usize::from(n)].dma_requests()),
            (Place::Adc(n), Signal::Adc(converter)) => {
                self.adcs[usize::from(n)].is_dma_requested(usize::from(converter))
            }
            (Place::AdcV4(n), Signal::Adc(converter)) => {
                self.adcs_v4[usize::from(n)].is_dma_requested(usize::from(converter))
            }
            (Place::Timer(n), Signal::Update) => self.timers[usize::from(n)].is_dma_requested_by_flag(0),
            (Place::Timer(n), Signal::Compare(channel)) => {
                self.timers[usize::from(n)].is_dma_requested_by_flag(channel + 1)
            }
            _ => false,
        }
    }

    /// Notifies a peripheral that its request was served. `left` is the number of items that are left of the round.
    fn acknowledge_dma(&mut self, source: &Source, left: u32, is_last: bool) {
        match (source.place, source.signal) {
            (Place::I2cV1(n), Signal::Rx) => self.i2cs_v1[usize::from(n)].count_dma_byte(left),
            (Place::Adc(n), Signal::Adc(converter)) => {
                self.adcs[usize::from(n)].end_dma_request(usize::from(converter), is_last);
            }
            (Place::AdcV4(n), Signal::Adc(converter)) => {
                self.adcs_v4[usize::from(n)].end_dma_request(usize::from(converter), is_last);
            }
            (Place::Timer(n), Signal::Update) => self.timers[usize::from(n)].end_dma_request(0),
            (Place::Timer(n), Signal::Compare(channel)) => self.timers[usize::from(n)].end_dma_request(channel + 1),
            _ => {}
        }
    }

    /// Recomputes which peripherals request which streams, after a write to a controller or to the request multiplexer.
    pub(super) fn rewire_dma(&mut self, now: u64) {
        for c in 0..self.dmas.len() {
            let selections = self.dmas[c].request_selections();
            for (stream, selection) in selections.into_iter().enumerate() {
                self.wiring.sources[c][stream] =
                    selection.map_or(Vec::new(), |selection| self.dma_sources_of_stream(c, stream, selection));
            }
        }
        self.wiring.is_active = true;
        self.update_dma_controllers(now);
        self.wiring.is_active = self.dmas.iter().any(super::Dma::is_dma_active);
    }

    /// Returns the peripherals whose requests a stream with this selection serves.
    fn dma_sources_of_stream(&self, c: usize, stream: usize, selection: u32) -> Vec<Source> {
        let controller = c as u8 + 1;
        let source = |(block, signal): (&str, Signal)| {
            let slot = self.slots.iter().position(|slot| slot.row.name == block)?;
            Some(Source { slot, place: self.slots[slot].place, signal })
        };
        if self.spec.chip == Chip::H743 {
            let request = self.dma_mux.dma_request_of_stream(controller, stream);
            return lines::multiplexed_request_line(request).and_then(source).into_iter().collect();
        }
        lines::dma_request_lines(self.spec.chip)
            .filter(|line| (line.0, usize::from(line.1)) == (controller, stream))
            .filter(|line| self.spec.chip == Chip::F103 || u32::from(line.2) == selection)
            .filter_map(|line| source((line.3, line.4)))
            .collect()
    }

    /// Updates all DMA controllers, because a peripheral's requests may have changed.
    #[inline]
    pub(super) fn update_dma_controllers(&mut self, now: u64) {
        if self.wiring.is_active && !self.wiring.is_running {
            for c in 0..self.dmas.len() {
                self.update_dma_controller(c, now);
            }
        }
    }

    /// Lets a DMA controller begin transfers at cycle `now`, and updates its next event.
    fn update_dma_controller(&mut self, c: usize, now: u64) {
        let slot = self.wiring.slots[c];
        if self.slots[slot].open && self.dmas[c].is_dma_active() {
            let mut requests = 0;
            for (stream, sources) in self.wiring.sources[c].iter().enumerate() {
                requests |= u32::from(sources.iter().any(|source| self.is_dma_requested(source))) << stream;
            }
            let view = View {
                requests,
                clocks: &self.clocks,
                flash_wait_states: u64::from(self.flash.current_flash_read_settings().wait_states),
                map: &self.map,
                slots: &self.slots,
            };
            self.dmas[c].begin_transfers(now, &view);
        }
        self.update_peripheral_block_outputs(slot);
    }

    /// Returns whether the block in a slot is a DMA controller, which only [`Stm32::execute_due_dma_transfers`]
    /// advances.
    pub(super) fn is_dma_controller(&self, slot: usize) -> bool {
        matches!(self.slots[slot].place, Place::Dma(_))
    }
}

/// Returns whether a block can request DMA transfers.
pub(super) fn can_request_dma(place: Place) -> bool {
    matches!(
        place,
        Place::Usart(_)
            | Place::Spi(_)
            | Place::SpiH7(_)
            | Place::Adc(_)
            | Place::AdcV4(_)
            | Place::I2cV1(_)
            | Place::I2cV2(_)
            | Place::Timer(_)
    )
}

/// Returns whether writes to a block can change which peripherals request which DMA streams.
pub(super) fn can_write_change_dma_routing(place: Place) -> bool {
    matches!(place, Place::Dma(_) | Place::DmaMux)
}
