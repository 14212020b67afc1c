//! All peripherals of one chip, with one address decoder.

use super::adc::Adc;
use super::adc_v4::AdcV4;
use super::chips::{Chip, Device, Spec};
use super::clocks::{Bus, Clocks};
use super::crc::Crc;
use super::dma::Dma;
use super::dma::channels::ChannelDmaController;
use super::dma::mux::DmaMux;
use super::dma::streams::StreamDma;
use super::effects::Effects;
use super::exti::Exti;
use super::flash::{Flash, FlashControl};
use super::gpio::Gpio;
use super::i2c_v1::I2cV1;
use super::i2c_v2::I2cV2;
use super::iwdg::Iwdg;
use super::map::PageMap;
use super::pwr::Pwr;
use super::rcc::{Crystals, OscillatorStartUpTimes, Rcc};
use super::regfile::RegFile;
use super::rng::Rng;
use super::rtc::Rtc;
use super::rtc_f1::RtcF1;
use super::slots::{Lines, PeripheralBlockSlot, Place};
use super::spi::Spi;
use super::spi_h7::SpiH7;
use super::syscfg::Syscfg;
use super::timer::pins::timer_pins;
use super::timer::{Timer, TimerKind};
use super::usart::{Usart, UsartLayout};
use super::wwdg::Wwdg;
use crate::device::{AttachedDevice, AttachedDevices, Connection};
use crate::{ElapsedTime, NEVER};

/// A pin of a GPIO port.
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

/// The options of an STM32's peripherals: crystals, wires and the behaviour of the host.
#[derive(Debug, Clone)]
pub struct Options {
    /// Crystal or clock on HSE. 0: none, it never becomes ready.
    pub hse_hz: u64,
    /// Crystal on LSE. 0: none.
    pub lse_hz: u64,
    /// How long clock sources take to start.
    pub start_up: OscillatorStartUpTimes,
    /// Wires between pins.
    pub wires: Vec<Wire>,
    /// Pins that resistors hold at a level while nothing drives them.
    pub rest: Vec<(Pin, bool)>,
    /// Bytes typed at a console come at line speed even if the receiver is full.
    pub host_overruns: bool,
    /// Seed of the random number generator.
    pub seed: u64,
}

impl Default for Options {
    /// Returns the usual options: crystals of 8 MHz and 32,768 Hz, no wires between pins, and a host that waits until a
    /// receiver has room.
    fn default() -> Self {
        let start_up = OscillatorStartUpTimes::default();
        let (wires, rest) = (Vec::new(), Vec::new());
        Self { hse_hz: 8_000_000, lse_hz: 32_768, start_up, wires, rest, host_overruns: false, seed: 1 }
    }
}

mod access;
mod clocking;
mod dma;
mod pins;
mod timers;

const PORTS: usize = 11;

/// The peripherals of one STM32. Blocks are public so that instruments can look at them. The machine goes through the
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
    /// SPIs, in the order of the memory map.
    pub spis: Vec<Spi>,
    /// SPIs of the H7, in the order of the memory map.
    pub spis_h7: Vec<SpiH7>,
    /// ADCs of F1, F4 and F7, in the order of the memory map.
    pub adcs: Vec<Adc>,
    /// ADCs of L0 and H7, in the order of the memory map.
    pub adcs_v4: Vec<AdcV4>,
    /// I2Cs of F1 and F4, in the order of the memory map.
    pub i2cs_v1: Vec<I2cV1>,
    /// I2Cs of L0, F7 and H7.
    pub i2cs_v2: Vec<I2cV2>,
    /// DMA controllers, in the order of their numbers.
    pub dmas: Vec<Dma>,
    /// Selects the requests of the H7's controllers.
    pub dma_mux: DmaMux,
    wiring: dma::DmaWiring,
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
    slots: Vec<PeripheralBlockSlot>,
    /// Cycle at which each slot wants to be advanced, apart from the slots so that the next one is found fast.
    dues: Vec<u64>,
    map: PageMap,
    /// Place in `gpios` of each port.
    ports: [Option<u8>; PORTS],
    exti_slot: usize,
    timer_routes: timers::TimerRoutes,
    clocks: Clocks,
    /// The asynchronous clock of the ADCs of L0 and H7.
    adc_hz: u64,
    elapsed: ElapsedTime,
    /// The core's clock that the run states, whatever RCC says.
    stated_hz: Option<u64>,
    lines: Lines,
    due: u64,
    /// The unsupported requests so far.
    told: Vec<&'static str>,
    /// Devices at serial ports and pins.
    pub attachments: AttachedDevices,
}

impl Stm32 {
    /// Creates a chip after power-on.
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
            spis: Vec::new(),
            spis_h7: Vec::new(),
            adcs: Vec::new(),
            adcs_v4: Vec::new(),
            i2cs_v1: Vec::new(),
            i2cs_v2: Vec::new(),
            dmas: Vec::new(),
            dma_mux: DmaMux::default(),
            wiring: dma::DmaWiring::default(),
            crc: Crc::new(spec.window_and_crc),
            rng: Rng::new(options.seed),
            iwdg: Iwdg::new(spec.window_and_crc),
            wwdg: Wwdg::new(spec.chip == Chip::H743),
            rtc: Rtc::new(),
            rtc_f1: RtcF1::new(),
            files: Vec::new(),
            slots: Vec::new(),
            dues: Vec::new(),
            map: PageMap::new(),
            ports: [None; PORTS],
            exti_slot: 0,
            timer_routes: timers::TimerRoutes::default(),
            clocks: Clocks::default(),
            adc_hz: 0,
            elapsed: ElapsedTime::new_at_power_on(0),
            stated_hz: None,
            lines: Lines::new(),
            due: NEVER,
            told: Vec::new(),
            attachments: AttachedDevices::default(),
        };
        chip.create_peripheral_blocks(options);
        chip.timer_routes = timers::TimerRoutes::new(&chip.slots, &timer_pins(spec.chip));
        let mut effects = Effects::default();
        chip.update_clock_gates_and_resets(0, &mut effects);
        chip.update_clock_frequencies(0, &mut effects);
        chip.update_timer_routes(0, &mut effects);
        chip.set_pins_held_by_resistors(&options.rest, &mut effects);
        chip
    }

    /// Creates the blocks of the chip's table.
    fn create_peripheral_blocks(&mut self, options: &Options) {
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
                    Place::Gpio(push_item_and_return_index(&mut self.gpios, Gpio::new(port, self.spec.gpio, reset)))
                }
                Device::Usart(number, _) => {
                    let usart = Usart::new(number, self.spec.usart, options.host_overruns);
                    Place::Usart(push_item_and_return_index(&mut self.usarts, usart))
                }
                Device::Lpuart(_) => {
                    let fifo = matches!(self.spec.usart, UsartLayout::V2 { fifo: true, .. });
                    let layout = UsartLayout::V2 { fifo, low_power: true };
                    Place::Usart(push_item_and_return_index(
                        &mut self.usarts,
                        Usart::new(0, layout, options.host_overruns),
                    ))
                }
                Device::Timer(kind) => {
                    let kind = TimerKind { remap: self.spec.uif_remap, ..kind };
                    Place::Timer(push_item_and_return_index(&mut self.timers, Timer::new(kind)))
                }
                Device::Spi(layout) => Place::Spi(push_item_and_return_index(&mut self.spis, Spi::new(layout))),
                Device::SpiH7(fifo_bytes, _) => {
                    Place::SpiH7(push_item_and_return_index(&mut self.spis_h7, SpiH7::new(fifo_bytes)))
                }
                Device::Adc(layout) => Place::Adc(push_item_and_return_index(&mut self.adcs, Adc::new(layout))),
                Device::AdcV4(layout) => {
                    Place::AdcV4(push_item_and_return_index(&mut self.adcs_v4, AdcV4::new(layout)))
                }
                Device::I2cV1 => Place::I2cV1(push_item_and_return_index(&mut self.i2cs_v1, I2cV1::default())),
                Device::I2cV2(_) => Place::I2cV2(push_item_and_return_index(&mut self.i2cs_v2, I2cV2::default())),
                Device::Dbgmcu => Place::File(push_item_and_return_index(
                    &mut self.files,
                    RegFile::new(0x400, self.spec.dbgmcu, false),
                )),
                Device::File(size, fixed, inert) => {
                    bytes = size;
                    Place::File(push_item_and_return_index(
                        &mut self.files,
                        RegFile::new(size.min(STORED_BYTES), fixed, inert),
                    ))
                }
                Device::Backup => {
                    Place::File(push_item_and_return_index(&mut self.files, RegFile::new(0x400, &[], false)))
                }
                Device::Dma => {
                    self.wiring.add_dma_controller(self.slots.len());
                    Place::Dma(push_item_and_return_index(&mut self.dmas, new_dma(self.spec.chip)))
                }
                Device::DmaMux => Place::DmaMux,
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
            self.map.map_peripheral_addresses(row.base, bytes, self.slots.len());
            self.slots.push(PeripheralBlockSlot::new(row, place));
            self.dues.push(NEVER);
        }
    }

    /// Returns the chip.
    #[must_use]
    pub fn chip(&self) -> Chip {
        self.spec.chip
    }

    /// Returns the frequencies in force. Copy them again after every call that sets `effects.clocks_changed`.
    #[must_use]
    pub fn clock_frequencies(&self) -> &Clocks {
        &self.clocks
    }

    /// Returns the settings of the flash's read accesses. `effects.flash_timing_changed` reports changes.
    #[must_use]
    pub fn flash_read_settings(&self) -> FlashControl {
        self.flash.current_flash_read_settings()
    }

    /// Returns the core cycle at which [`Self::process_events_until`] must be called next, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn next_advance_cycle(&self) -> u64 {
        self.due
    }

    /// Returns the levels of the NVIC lines, 32 to a word.
    #[inline]
    #[must_use]
    pub fn irq_levels(&self) -> &[u32; 5] {
        self.lines.irq_line_levels()
    }

    /// Returns the number of NVIC lines.
    #[must_use]
    pub fn irq_line_count(&self) -> u16 {
        self.spec.irq_lines
    }

    /// Returns the bus an address is on, or `None` where no peripheral answers.
    #[inline]
    #[must_use]
    pub fn bus_at_address(&self, address: u32) -> Option<Bus> {
        self.map.peripheral_index_at_address(address).map(|slot| self.slots[slot].row.bus)
    }

    /// Returns the reference manual's name of the block at an address.
    #[must_use]
    pub fn manual_name_of_peripheral(&self, address: u32) -> Option<&'static str> {
        self.map.peripheral_index_at_address(address).map(|slot| self.slots[slot].row.name)
    }

    /// Returns the memory that is visible at address 0: 0 main flash (as booted), 1 system memory, 2 external memory, 3
    /// SRAM.
    #[must_use]
    pub fn memory_at_zero(&self) -> u32 {
        self.syscfg.memory_mapped_at_zero()
    }

    /// Returns the address of the core's vector table after reset, with the BOOT pin low and option bytes as delivered.
    #[must_use]
    pub fn boot_address(&self) -> u32 {
        if self.spec.chip == Chip::F767 { 0x0020_0000 } else { FLASH_BASE }
    }

    /// Returns a sentence about a clock beyond the data sheet's limits, or one without a source here. `stated`: the
    /// core clock in Hz that the run states.
    #[must_use]
    pub fn clock_limit_warning(&self, stated: Option<u64>) -> Option<String> {
        let no_source =
            || self.rcc.is_rtc_clocked_by_hse().then(|| "RCC: running the RTC from HSE is not modelled".to_owned());
        super::limits::describe_first_exceeded_clock_limit(self.spec.chip, self.clock_frequencies(), stated)
            .or_else(no_source)
    }

    /// Returns a sentence about the memory that SYSCFG selects for address 0, if it is not modelled. `None` otherwise.
    #[must_use]
    pub fn missing_memory_warning(&self) -> Option<&'static str> {
        matches!(self.memory_at_zero(), 1 | 2).then_some("SYSCFG: only flash and SRAM can be shown at address 0")
    }

    /// Returns a factory-programmed word, of unique identifier or flash size. `None` elsewhere.
    #[must_use]
    pub fn factory_programmed_word(&self, address: u32) -> Option<u32> {
        let word = address & !3;
        // Lot and wafer numbers of a part that never was.
        const UID: [u32; 3] = [0x0031_0027, 0x3033_5106, 0x3735_3438];
        let third = if matches!(self.spec.chip, Chip::L053 | Chip::L073) { 0x14 } else { 8 };
        match word.wrapping_sub(self.spec.uid) {
            0 => Some(UID[0]),
            4 => Some(UID[1]),
            offset if offset == third => Some(UID[2]),
            _ if word == self.spec.flash_size & !3 => {
                Some((self.spec.flash_bytes / 1024) << (self.spec.flash_size % 4 * 8))
            }
            _ => None,
        }
    }

    /// Sets the voltage at a pin that an ADC converts. The error is one sentence.
    pub fn set_analog_voltage(&mut self, pin: u16, millivolts: u32) -> Result<(), String> {
        if self.adcs.is_empty() {
            let inputs = self.adcs_v4.iter_mut().filter_map(|adc| adc.set_pin_voltage(pin, millivolts).then_some(()));
            let wants = "this pin is no input of an ADC; see the data sheet's table of pins";
            return if inputs.count() > 0 { Ok(()) } else { Err(wants.to_owned()) };
        }
        // Channels 0 to 7 are PA0 to PA7, 8 and 9 PB0 and PB1, 10 to 15 PC0 to PC5.
        let channel = match (pin / 16, pin % 16) {
            (0, n @ 0..=7) => n,
            (1, n @ 0..=1) => 8 + n,
            (2, n @ 0..=5) => 10 + n,
            _ => return Err("this pin is no input of the ADC; PA0 to PA7, PB0, PB1 and PC0 to PC5 are".to_owned()),
        };
        self.adcs.iter_mut().for_each(|adc| adc.set_channel_voltage(usize::from(channel), millivolts));
        Ok(())
    }

    /// Attaches a device at this place. The error is one sentence.
    pub fn attach_device(&mut self, connection: Connection, device: AttachedDevice) -> Result<(), String> {
        match connection {
            Connection::Uart(number) if self.usart_index(number).is_some() => {
                let is_free = self.attachments.attach_device_to_serial_port(number, device);
                if is_free { Ok(()) } else { Err(format!("another device is at serial port {number} already")) }
            }
            Connection::Uart(number) => Err(format!("the chip has no serial port {number}")),
            Connection::Pins => {
                self.attachments.attach_device_to_pins(device);
                Ok(())
            }
            Connection::Spi(number, select) => self.attach_to_spi(number, select, device),
            Connection::I2c(number, address) => self.attach_device_to_i2c_address(number, address, device),
        }
    }

    /// Returns the block with a name, such as SPI1. `None` if the chip lacks it.
    fn peripheral_with_name(&self, name: &str) -> Option<Place> {
        self.slots.iter().find(|slot| slot.row.name == name).map(|slot| slot.place)
    }

    /// Attaches a device to an SPI controller. `select` is its chip select pin, if it has one. Returns an error
    /// sentence if the chip lacks the pin or the controller.
    fn attach_to_spi(&mut self, number: u8, select: Option<u16>, device: AttachedDevice) -> Result<(), String> {
        if let Some(pin) = select.filter(|&pin| self.gpio_port((pin / 16) as u8).is_none()) {
            return Err(format!("the chip has no pin number {pin}"));
        }
        let bus = match self.peripheral_with_name(&format!("SPI{number}")) {
            Some(Place::Spi(index)) => &mut self.spis[usize::from(index)].bus,
            Some(Place::SpiH7(index)) => &mut self.spis_h7[usize::from(index)].bus,
            _ => return Err(format!("the chip has no spi{number}")),
        };
        bus.attach_spi_device(select, device);
        Ok(())
    }

    /// Attaches a device to an I2C controller at a 7- or 10-bit address. Returns an error sentence if the chip lacks
    /// the controller or the address is taken.
    fn attach_device_to_i2c_address(&mut self, number: u8, address: u16, device: AttachedDevice) -> Result<(), String> {
        let bus = match self.peripheral_with_name(&format!("I2C{number}")) {
            Some(Place::I2cV1(index)) => &mut self.i2cs_v1[usize::from(index)].bus,
            Some(Place::I2cV2(index)) => &mut self.i2cs_v2[usize::from(index)].bus,
            _ => return Err(format!("the chip has no i2c{number}")),
        };
        if bus.attach_i2c_device(address, device) {
            return Ok(());
        }
        Err(format!("another device has the address 0x{address:02x} already"))
    }

    /// Returns the index in [`Self::usarts`] of a serial port, by its number. 0 is LPUART1.
    #[must_use]
    pub fn usart_index(&self, number: u8) -> Option<usize> {
        self.usarts.iter().position(|usart| usart.port_number() == number)
    }
}

/// Creates a DMA controller of a chip, in its reset state.
fn new_dma(chip: Chip) -> Dma {
    match chip {
        Chip::F103 => Dma::Channels(Box::new(ChannelDmaController::new(false))),
        Chip::L053 | Chip::L073 => Dma::Channels(Box::new(ChannelDmaController::new(true))),
        Chip::F407 | Chip::F411 | Chip::F446 => Dma::Streams(Box::new(StreamDma::new(7))),
        Chip::F767 => Dma::Streams(Box::new(StreamDma::new(15))),
        Chip::H743 => Dma::Streams(Box::new(StreamDma::new(0))),
    }
}

/// Appends an item to a list, and returns its index.
fn push_item_and_return_index<T>(list: &mut Vec<T>, item: T) -> u8 {
    list.push(item);
    (list.len() - 1) as u8
}

/// Main flash of every STM32.
const FLASH_BASE: u32 = 0x0800_0000;
/// The most bytes that a block of registers stores. Beyond it reads 0.
const STORED_BYTES: u32 = 0x9000;
