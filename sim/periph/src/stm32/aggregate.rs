//! All peripherals of one chip behind one address decoder.

use super::block::{Access, Block};
use super::chips::{Chip, Device, Spec};
use super::clocks::{Bus, Clocks};
use super::crc::Crc;
use super::effects::{Effects, PinChange, ResetCause};
use super::exti::Exti;
use super::flash::{Flash, FlashControl, FlashStore};
use super::gpio::Gpio;
use super::iwdg::Iwdg;
use super::map::PageMap;
use super::pwr::Pwr;
use super::rcc::{Crystals, Rcc, StartUp};
use super::regfile::RegFile;
use super::rng::Rng;
use super::rtc::Rtc;
use super::rtc_f1::RtcF1;
use super::slots::{Lines, Place, Slot, with_block};
use super::syscfg::Syscfg;
use super::timer::{self, Timer, TimerKind};
use super::usart::{Usart, UsartLayout};
use super::wwdg::Wwdg;
use crate::NEVER;

/// A pin of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Port, 0 = A.
    pub port: u8,
    /// Pin, 0 to 15.
    pub pin: u8,
}

/// A wire on the board from one pin of the chip to another: `to` follows the level of `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// The pin that drives.
    pub from: Pin,
    /// The pin that listens.
    pub to: Pin,
}

/// What the board adds to the chip.
#[derive(Debug, Clone)]
pub struct Options {
    /// Crystal or clock on HSE; 0: none, it never becomes ready.
    pub hse_hz: u64,
    /// Crystal on LSE; 0: none.
    pub lse_hz: u64,
    /// How long clock sources take to start.
    pub start_up: StartUp,
    /// Wires between pins.
    pub wires: Vec<Wire>,
    /// Bytes typed at a console come at line speed even if the receiver is full.
    pub host_overruns: bool,
    /// Seed of the random number generator.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let start_up = StartUp::default();
        Self { hse_hz: 8_000_000, lse_hz: 32_768, start_up, wires: Vec::new(), host_overruns: false, seed: 1 }
    }
}

const PORTS: usize = 11;

/// The peripherals of one STM32. Blocks are public so that instruments can look at them; the machine goes through the
/// methods, which keep due times, interrupt lines, clocks and pins right.
#[derive(Debug, Clone)]
pub struct Stm32 {
    spec: &'static Spec,
    wires: Vec<Wire>,
    /// Reset and clock control.
    pub rcc: Rcc,
    /// Flash interface.
    pub flash: Flash,
    /// Power control.
    pub pwr: Pwr,
    /// SYSCFG or AFIO.
    pub syscfg: Syscfg,
    /// External interrupts.
    pub exti: Exti,
    /// GPIO ports, in the order of the memory map.
    pub gpios: Vec<Gpio>,
    /// Serial ports, in the order of the memory map.
    pub usarts: Vec<Usart>,
    /// Timers, in the order of the memory map.
    pub timers: Vec<Timer>,
    /// CRC unit.
    pub crc: Crc,
    /// Random number generator, where there is one.
    pub rng: Rng,
    /// Independent watchdog.
    pub iwdg: Iwdg,
    /// Window watchdog.
    pub wwdg: Wwdg,
    /// Real-time clock of all but the F1.
    pub rtc: Rtc,
    /// Real-time clock of the F1.
    pub rtc_f1: RtcF1,
    pub(super) files: Vec<RegFile>,
    slots: Vec<Slot>,
    map: PageMap,
    /// Place in `gpios` of each port.
    ports: [Option<u8>; PORTS],
    exti_slot: usize,
    clocks: Clocks,
    lines: Lines,
    due: u64,
}

impl Stm32 {
    /// A chip fresh from power-on.
    #[must_use]
    pub fn new(chip: Chip, options: &Options) -> Self {
        let spec = chip.spec();
        let crystals = Crystals { hse_hz: options.hse_hz, lse_hz: options.lse_hz, start_up: options.start_up };
        let mut chip = Self {
            spec,
            wires: options.wires.clone(),
            rcc: Rcc::new(spec.rcc, crystals),
            flash: Flash::new(spec.flash, FLASH_BASE, spec.flash_bytes),
            pwr: Pwr::new(spec.pwr),
            syscfg: Syscfg::new(spec.syscfg),
            exti: Exti::new(spec.exti, spec.exti_masks),
            gpios: Vec::new(),
            usarts: Vec::new(),
            timers: Vec::new(),
            crc: Crc::new(spec.window_and_crc),
            rng: Rng::new(options.seed),
            iwdg: Iwdg::new(spec.window_and_crc),
            wwdg: Wwdg::new(spec.chip == Chip::H743),
            rtc: Rtc::new(),
            rtc_f1: RtcF1::new(),
            files: Vec::new(),
            slots: Vec::new(),
            map: PageMap::new(),
            ports: [None; PORTS],
            exti_slot: 0,
            clocks: Clocks::default(),
            lines: Lines::new(),
            due: NEVER,
        };
        chip.populate(options);
        let mut effects = Effects::default();
        chip.refresh_gates(0, &mut effects);
        chip.retime(0, &mut effects);
        chip
    }

    fn populate(&mut self, options: &Options) {
        for row in self.spec.rows() {
            let mut bytes = 0x400;
            let place = match row.device {
                Device::Rcc => Place::Rcc,
                Device::Flash => Place::Flash,
                Device::Pwr => Place::Pwr,
                Device::Syscfg => Place::Syscfg,
                Device::Exti => Place::Exti,
                Device::Gpio(port) => {
                    let reset = self.spec.gpio_resets[usize::from(port).min(2)];
                    self.ports[usize::from(port)] = Some(self.gpios.len() as u8);
                    Place::Gpio(push(&mut self.gpios, Gpio::new(port, self.spec.gpio, reset)))
                }
                Device::Usart(number, _) => {
                    let usart = Usart::new(number, self.spec.usart, options.host_overruns);
                    Place::Usart(push(&mut self.usarts, usart))
                }
                Device::Lpuart(_) => {
                    let fifo = matches!(self.spec.usart, UsartLayout::V2 { fifo: true, .. });
                    let layout = UsartLayout::V2 { fifo, low_power: true };
                    Place::Usart(push(&mut self.usarts, Usart::new(0, layout, options.host_overruns)))
                }
                Device::Timer(kind) => {
                    let kind = TimerKind { remap: self.spec.uif_remap, ..kind };
                    Place::Timer(push(&mut self.timers, Timer::new(kind)))
                }
                Device::Dbgmcu => Place::File(push(&mut self.files, RegFile::new(0x400, self.spec.dbgmcu, false))),
                Device::File(size, fixed, inert) => {
                    bytes = size;
                    Place::File(push(&mut self.files, RegFile::new(size.min(STORED_BYTES), fixed, inert)))
                }
                Device::Backup => Place::File(push(&mut self.files, RegFile::new(0x400, &[], false))),
                Device::Dma => Place::File(push(&mut self.files, RegFile::new(0x400, &[], true))),
                Device::Iwdg => Place::Iwdg,
                Device::Wwdg => Place::Wwdg,
                Device::Rtc => Place::Rtc,
                Device::RtcF1 => Place::RtcF1,
                Device::Rng => Place::Rng,
                Device::Crc => Place::Crc,
            };
            if place == Place::Exti {
                self.exti_slot = self.slots.len();
            }
            self.map.place(row.base, bytes, self.slots.len());
            self.slots.push(Slot::new(row, place));
        }
    }

    /// The chip.
    #[must_use]
    pub fn chip(&self) -> Chip {
        self.spec.chip
    }

    /// Frequencies in force. Copy them again after every call that leaves `effects.clocks_changed` set.
    #[must_use]
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Read access control of the flash; changes are told by `effects.flash_timing_changed`.
    #[must_use]
    pub fn flash_control(&self) -> FlashControl {
        self.flash.control()
    }

    /// Core cycle at which [`Self::advance`] must be called next, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Levels of the NVIC lines, 32 to a word.
    #[inline]
    #[must_use]
    pub fn irq_levels(&self) -> &[u32; 5] {
        self.lines.levels()
    }

    /// Number of NVIC lines.
    #[must_use]
    pub fn irq_lines(&self) -> u16 {
        self.spec.irq_lines
    }

    /// The bus an address is on, or `None` where no peripheral answers.
    #[inline]
    #[must_use]
    pub fn bus(&self, address: u32) -> Option<Bus> {
        self.map.slot(address).map(|slot| self.slots[slot].row.bus)
    }

    /// The reference manual's name of the block at an address.
    #[must_use]
    pub fn block_name(&self, address: u32) -> Option<&'static str> {
        self.map.slot(address).map(|slot| self.slots[slot].row.name)
    }

    /// Memory shown at address 0: 0 main flash (as booted), 1 system memory, 2 external memory, 3 SRAM.
    #[must_use]
    pub fn memory_at_zero(&self) -> u32 {
        self.syscfg.remap()
    }

    /// Where the core finds its vector table after reset with the BOOT pin low and option bytes as delivered.
    #[must_use]
    pub fn boot_address(&self) -> u32 {
        if self.spec.chip == Chip::F767 { 0x0020_0000 } else { FLASH_BASE }
    }

    /// A factory-programmed word: unique identifier and flash size. `None` elsewhere.
    #[must_use]
    pub fn factory_word(&self, address: u32) -> Option<u32> {
        let word = address & !3;
        // Lot and wafer numbers of a part that never was.
        const UID: [u32; 3] = [0x0031_0027, 0x3033_5106, 0x3735_3438];
        match word.wrapping_sub(self.spec.uid) {
            0 => Some(UID[0]),
            4 => Some(UID[1]),
            // L0: the third word is at 0x14.
            8 | 0x14 => Some(UID[2]),
            _ if word == self.spec.flash_size & !3 => {
                Some((self.spec.flash_bytes / 1024) << (self.spec.flash_size % 4 * 8))
            }
            _ => None,
        }
    }

    /// Reads 1, 2 or 4 bytes. A block without its clock reads 0; so does an address where no block is.
    pub fn read(&mut self, address: u32, bytes: u32, now: u64, effects: &mut Effects) -> u32 {
        let Some(n) = self.map.slot(address) else {
            return 0;
        };
        let slot = &self.slots[n];
        if !slot.open {
            self.note_closed(n, address, false, effects);
            return 0;
        }
        let offset = address.wrapping_sub(slot.row.base) & !3;
        let (place, clock_hz) = (slot.place, slot.clock_hz);
        self.tell_timer(place, n, now, effects);
        let mut access = Access { now, core_hz: self.clocks.core_hz, clock_hz, bytes, effects };
        let value = with_block!(self, place, block => block.read(offset, &mut access));
        self.after(n, now, effects);
        let lanes = value >> (address % 4 * 8);
        if bytes == 4 { lanes } else { lanes & ((1 << (bytes * 8)) - 1) }
    }

    /// Writes 1, 2 or 4 bytes. A block without its clock ignores it.
    ///
    /// An APB bridge turns a narrow store into a word with the data on every lane (RM0090 "AHB/APB bridges" and the
    /// same passage of the other manuals); AHB blocks see the bytes on their lanes and keep the others.
    pub fn write(&mut self, address: u32, bytes: u32, value: u32, now: u64, effects: &mut Effects) {
        let Some(n) = self.map.slot(address) else {
            return;
        };
        let slot = &self.slots[n];
        if !slot.open {
            self.note_closed(n, address, true, effects);
            return;
        }
        if slot.backup && !self.pwr.backup_open() {
            return;
        }
        let offset = address.wrapping_sub(slot.row.base) & !3;
        let (clock_hz, place, apb) = (slot.clock_hz, slot.place, slot.row.bus.is_apb());
        self.tell_timer(place, n, now, effects);
        let mut access = Access { now, core_hz: self.clocks.core_hz, clock_hz, bytes, effects };
        with_block!(self, place, block => {
            let word = match bytes {
                4 => value,
                2 if apb => (value & 0xffff) * 0x0001_0001,
                _ if apb => (value & 0xff) * 0x0101_0101,
                _ => {
                    let shift = address % 4 * 8;
                    let mask = ((1u32 << (bytes * 8)) - 1) << shift;
                    let rest = if block.is_strobe(offset) { 0 } else { block.peek(offset, &access) };
                    rest & !mask | value << shift & mask
                }
            };
            block.write(offset, word, &mut access);
        });
        self.tell_timer(place, n, now, effects);
        self.after_write(n, Some(offset), now, effects);
    }

    /// A timer that counts another one's updates hears of them when it is accessed.
    fn tell_timer(&mut self, place: Place, n: usize, now: u64, effects: &mut Effects) {
        let Place::Timer(listener) = place else {
            return;
        };
        let Some(input) = self.timers[usize::from(listener)].listens_to() else {
            return;
        };
        let name = timer::chain::talker(self.slots[n].row.name, input);
        let Some(talker) = self.slots.iter().find(|slot| Some(slot.row.name) == name) else {
            return;
        };
        let (Place::Timer(talker), clock_hz) = (talker.place, talker.clock_hz) else {
            return;
        };
        let access = Access { now, core_hz: self.clocks.core_hz, clock_hz, bytes: 4, effects };
        if let Some(told) = self.timers[usize::from(talker)].told(&access) {
            self.timers[usize::from(listener)].hear(told, &access);
        }
    }

    fn note_closed(&mut self, n: usize, address: u32, written: bool, effects: &mut Effects) {
        let slot = &mut self.slots[n];
        if !slot.in_reset && !std::mem::replace(&mut slot.told.1, true) {
            effects.unclocked = Some((address, written));
        }
    }

    /// Carries out what is due by `now`. The machine calls it when [`Self::due`] is reached.
    pub fn advance(&mut self, now: u64, effects: &mut Effects) {
        for n in 0..self.slots.len() {
            if self.slots[n].due <= now {
                self.advance_slot(n, now, effects);
                self.after(n, now, effects);
            }
        }
        self.reschedule();
    }

    fn advance_slot(&mut self, n: usize, now: u64, effects: &mut Effects) {
        let (place, clock_hz) = (self.slots[n].place, self.slots[n].clock_hz);
        let mut access = Access { now, core_hz: self.clocks.core_hz, clock_hz, bytes: 4, effects };
        with_block!(self, place, block => block.advance(&mut access));
    }

    /// What other blocks must learn of a write to a register, or of a reset (no offset).
    fn after_write(&mut self, n: usize, offset: Option<u32>, now: u64, effects: &mut Effects) {
        match self.slots[n].place {
            Place::Gpio(port) => self.update_port(port, now, effects),
            Place::Rcc if offset.is_some_and(|offset| self.rcc.is_gate(offset)) => {
                self.refresh_gates(now, effects);
                effects.clocks_changed = true;
            }
            Place::Pwr => self.rcc.set_backup_open(self.pwr.backup_open()),
            Place::Syscfg => self.route_lines(),
            _ => {}
        }
        if let Some((offset, written)) = effects.unmodelled.filter(|(at, _)| *at < WHOLE_ADDRESS) {
            let told = std::mem::replace(&mut self.slots[n].told.0, true);
            effects.unmodelled = (!told).then_some((self.slots[n].row.base + offset, written));
        }
        self.after(n, now, effects);
    }

    /// Brings the slot's due time and interrupt outputs up to date, and the clocks if they may have changed.
    #[inline]
    fn after(&mut self, n: usize, now: u64, effects: &mut Effects) {
        if effects.clocks_changed && self.slots[n].place == Place::Rcc {
            if self.rcc.backup_in_reset() {
                self.reset_where(|slot| slot.backup);
            }
            self.retime(now, effects);
        }
        let place = self.slots[n].place;
        let (due, outputs) = with_block!(self, place, block => (block.due(), block.outputs()));
        let slot = &mut self.slots[n];
        if slot.outputs != outputs {
            self.lines.change(slot.row.irqs, slot.outputs, outputs);
            slot.outputs = outputs;
        }
        let before = std::mem::replace(&mut slot.due, due);
        if due < self.due {
            self.due = due;
        } else if before != due && before == self.due {
            self.reschedule();
        }
    }

    fn reschedule(&mut self) {
        self.due = self.slots.iter().map(|slot| slot.due).min().unwrap_or(NEVER);
    }

    /// Opens, closes and resets blocks as RCC's enable and reset bits say.
    fn refresh_gates(&mut self, now: u64, effects: &mut Effects) {
        for n in 0..self.slots.len() {
            let Some(gate) = self.slots[n].row.gate else {
                continue;
            };
            let in_reset = self.rcc.in_reset(gate);
            let slot = &mut self.slots[n];
            slot.open = self.rcc.enabled(gate) && !in_reset;
            if in_reset && !std::mem::replace(&mut slot.in_reset, in_reset) {
                let place = slot.place;
                with_block!(self, place, block => block.reset());
                self.after_write(n, None, now, effects);
            }
            self.slots[n].in_reset = in_reset;
        }
    }

    /// The clock a slot runs from.
    fn slot_clock(&self, slot: &Slot, clocks: &Clocks) -> u64 {
        if !slot.open {
            return 0;
        }
        let bus = slot.row.bus;
        match slot.row.device {
            Device::Timer(_) => clocks.timer_hz[usize::from(bus == Bus::Apb2)],
            Device::Usart(_, Some(mux)) | Device::Lpuart(Some(mux)) => self.rcc.kernel_hz(clocks, mux, bus),
            Device::Iwdg => self.spec.rcc.lsi_hz(),
            Device::Rtc | Device::RtcF1 => self.rcc.rtc_hz(),
            _ => clocks.bus_hz(bus),
        }
    }

    /// Recomputes the clocks and rebases whatever depends on one that changed.
    fn retime(&mut self, now: u64, effects: &mut Effects) {
        let clocks = self.rcc.clocks();
        self.pwr.set_pll(self.rcc.pll_ready());
        let core_changed = clocks.core_hz != self.clocks.core_hz;
        effects.clocks_changed = clocks != self.clocks;
        for n in 0..self.slots.len() {
            let clock_hz = self.slot_clock(&self.slots[n], &clocks);
            if !core_changed && clock_hz == self.slots[n].clock_hz {
                continue;
            }
            if self.slots[n].place != Place::Rcc {
                self.advance_slot(n, now, effects);
            }
            self.slots[n].clock_hz = clock_hz;
            let place = self.slots[n].place;
            let mut access = Access { now, core_hz: clocks.core_hz, clock_hz, bytes: 4, effects };
            let due = with_block!(self, place, block => {
                block.clocks_changed(&mut access);
                block.due()
            });
            let outputs = with_block!(self, place, block => block.outputs());
            let slot = &mut self.slots[n];
            slot.due = due;
            self.lines.change(slot.row.irqs, slot.outputs, outputs);
            slot.outputs = outputs;
        }
        self.clocks = clocks;
        self.reschedule();
    }

    /// A chip reset: every block but the backup domain, then the cause's flag.
    pub fn reset(&mut self, cause: ResetCause, now: u64, effects: &mut Effects) {
        self.reset_where(|slot| !slot.backup);
        self.rcc.note_cause(cause);
        self.rcc.set_backup_open(false);
        for n in 0..self.slots.len() {
            self.slots[n].open = self.slots[n].row.gate.is_none();
            self.slots[n].in_reset = false;
            self.after_write(n, None, now, effects);
        }
        self.refresh_gates(now, effects);
        self.retime(now, effects);
        effects.flash_timing_changed = true;
        effects.clocks_changed = true;
    }

    fn reset_where(&mut self, chosen: impl Fn(&Slot) -> bool) {
        for n in 0..self.slots.len() {
            if chosen(&self.slots[n]) {
                let place = self.slots[n].place;
                with_block!(self, place, block => block.reset());
            }
        }
    }

    /// A store to the flash array: whether it programs. Erasures come as effects.
    pub fn flash_store(&mut self, address: u32, bytes: u32, now: u64, effects: &mut Effects) -> FlashStore {
        let core_hz = self.clocks.core_hz;
        let mut access = Access { now, core_hz, clock_hz: self.clocks.hclk_hz, bytes: 4, effects };
        let store = self.flash.store(address, bytes, &mut access);
        if let Some(n) = self.slots.iter().position(|slot| slot.place == Place::Flash) {
            self.after(n, now, effects);
        }
        store
    }

    /// The index in [`Self::usarts`] of a serial port, by its number; 0 is LPUART1.
    #[must_use]
    pub fn usart_index(&self, number: u8) -> Option<usize> {
        self.usarts.iter().position(|usart| usart.number() == number)
    }

    /// Bytes from the host to a serial port (by its number); they arrive at line speed from now on.
    pub fn uart_push(&mut self, number: u8, bytes: &[u8]) {
        if let Some(index) = self.usart_index(number) {
            self.usarts[index].host_push(bytes);
            let place = Place::Usart(index as u8);
            if let Some(slot) = self.slots.iter_mut().find(|slot| slot.place == place) {
                slot.due = self.usarts[index].due();
            }
            self.reschedule();
        }
    }

    /// Levels of a port's pins, 0 = A; 0 for a port the chip lacks.
    #[must_use]
    pub fn pin_levels(&self, port: u8) -> u16 {
        self.gpio(port).map_or(0, Gpio::levels)
    }

    /// A port, 0 = A.
    #[must_use]
    pub fn gpio(&self, port: u8) -> Option<&Gpio> {
        let index = self.ports.get(usize::from(port)).copied().flatten()?;
        self.gpios.get(usize::from(index))
    }

    /// Drives pins of a port from outside: `driven` selects them, `levels` gives their levels.
    pub fn drive_pins(&mut self, port: u8, driven: u16, levels: u16, now: u64, effects: &mut Effects) {
        if let Some(index) = self.ports.get(usize::from(port)).copied().flatten() {
            self.gpios[usize::from(index)].drive(driven, levels);
            self.update_port(index, now, effects);
        }
    }

    /// Brings the levels of a port up to date: edges, EXTI lines, wires.
    fn update_port(&mut self, index: u8, now: u64, effects: &mut Effects) {
        // Each wire passes a level on once; a loop of wires ends there.
        self.settle_port(index, self.wires.len(), now, effects);
    }

    fn settle_port(&mut self, index: u8, wires_left: usize, now: u64, effects: &mut Effects) {
        let gpio = &mut self.gpios[usize::from(index)];
        let changed = gpio.update();
        if changed == 0 {
            return;
        }
        let (port, levels) = (gpio.port(), gpio.levels());
        effects.pins.push(PinChange { cycle: now, port, changed, levels });
        self.sense(port, changed, levels, now, effects);
        for n in 0..self.wires.len() {
            let Wire { from, to } = self.wires[n];
            let touched = from.port == port && changed >> from.pin & 1 != 0 && wires_left > 0;
            if let Some(index) = self.ports[usize::from(to.port)].filter(|_| touched) {
                self.gpios[usize::from(index)].drive_pin(to.pin, levels >> from.pin & 1 != 0);
                self.settle_port(index, wires_left - 1, now, effects);
            }
        }
    }

    /// Hands edges to the EXTI lines that listen to the port.
    fn sense(&mut self, port: u8, changed: u16, levels: u16, now: u64, effects: &mut Effects) {
        let mut access = Access { now, core_hz: self.clocks.core_hz, clock_hz: 0, bytes: 4, effects };
        let mut rest = changed;
        while rest != 0 {
            let line = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            if self.syscfg.exti_port(line) == port {
                self.exti.pin_edge(line, levels >> line & 1 != 0, &mut access);
            }
        }
        self.after(self.exti_slot, now, effects);
    }

    /// The EXTI lines listen to other pins: no edge arises from the switch itself.
    fn route_lines(&mut self) {
        for line in 0..16 {
            let level = self.pin_levels(self.syscfg.exti_port(line)) >> line & 1 != 0;
            self.exti.set_level(line, level);
        }
    }
}

/// Appends and returns the index.
fn push<T>(list: &mut Vec<T>, item: T) -> u8 {
    list.push(item);
    (list.len() - 1) as u8
}

/// Main flash of every STM32.
const FLASH_BASE: u32 = 0x0800_0000;
/// What a block of registers stores at most; beyond it reads 0.
const STORED_BYTES: u32 = 0x9000;
/// Blocks report unmodelled registers by offset; anything above is an address already.
const WHOLE_ADDRESS: u32 = 0x4000_0000;
