//! Devices at the other end of a bus or a pin, and the buses that lead to them.
//!
//! A device is called when its byte or frame is complete. It answers at once: time on the bus is the master's. Each
//! call has the time since power-on in nanoseconds, for devices that are busy for a while.

use std::fmt;

/// A device outside of the chip that is attached to a board. It has the methods of its own bus. Times are nanoseconds
/// since power-on.
pub trait Device: Send + Sync {
    /// Receives an I2C START with the device's address, for a read or a write by the master. Returns true if the device
    /// acknowledges.
    fn i2c_start(&mut self, _reads: bool, _now_ns: u64) -> bool {
        false
    }

    /// Receives a byte over I2C. Returns true if the device acknowledges.
    fn i2c_write(&mut self, _byte: u8, _now_ns: u64) -> bool {
        false
    }

    /// Returns the byte that the device sends over I2C.
    fn i2c_read(&mut self, _now_ns: u64) -> u8 {
        0xff
    }

    /// Receives the end of an I2C transfer.
    fn i2c_stop(&mut self, _now_ns: u64) {}

    /// Receives a change of the pin that selects the device on an SPI: true when it falls, false when it rises.
    fn spi_select(&mut self, _selected: bool, _now_ns: u64) {}

    /// Exchanges an SPI frame of `bits` bits with the device: takes the master's frame, and returns the frame that the
    /// device sends meanwhile.
    fn exchange_frame(&mut self, _frame: u32, _bits: u32, _now_ns: u64) -> u32 {
        0
    }

    /// Receives a byte from a serial port of the board. Returns the bytes that the device sends then.
    fn receive_byte(&mut self, _byte: u8, _now_ns: u64) -> Vec<u8> {
        Vec::new()
    }

    /// Receives a pin's new level. Returns the pins that the device drives from now on, with levels.
    fn change_pin(&mut self, _pin: u16, _level: bool, _now_ns: u64) -> Vec<(u16, bool)> {
        Vec::new()
    }

    /// Returns a copy of the device in the same state, for snapshots.
    fn clone_device(&self) -> Box<dyn Device>;
}

/// The place at which a device is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// An SPI by its number in the manual, and the pin that selects the device while low.
    Spi(u8, Option<u16>),
    /// An I2C by its number in the manual, and the device's address.
    I2c(u8, u16),
    /// A serial port by its number in the manual, 0 for an LPUART1.
    Uart(u8),
    /// All pins.
    Pins,
}

/// A device of any kind, which is copied with its board.
pub struct AttachedDevice(pub Box<dyn Device>);

impl Clone for AttachedDevice {
    /// Returns a copy of the device with its present state, for a snapshot of the board.
    fn clone(&self) -> Self {
        Self(self.0.clone_device())
    }
}

impl fmt::Debug for AttachedDevice {
    /// Writes the type's name only: a device need not be printable.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Attached")
    }
}

/// The devices at serial ports and pins.
#[derive(Debug, Clone, Default)]
pub struct AttachedDevices {
    ports: Vec<(u8, AttachedDevice)>,
    pins: Vec<AttachedDevice>,
}

impl AttachedDevices {
    /// Attaches a device to a serial port. Returns false if one is attached already.
    pub fn attach_device_to_serial_port(&mut self, port: u8, device: AttachedDevice) -> bool {
        let is_free = self.ports.iter().all(|&(taken, _)| taken != port);
        if is_free {
            self.ports.push((port, device));
        }
        is_free
    }

    /// Attaches a device to the pins.
    pub fn attach_device_to_pins(&mut self, device: AttachedDevice) {
        self.pins.push(device);
    }

    /// Returns whether a device is attached to the pins.
    #[inline]
    #[must_use]
    pub fn has_device_on_pins(&self) -> bool {
        !self.pins.is_empty()
    }

    /// Sends a byte of serial port `port` to its device. Returns the bytes that the device sends then.
    pub fn receive_byte(&mut self, port: u8, byte: u8, now_ns: u64) -> Vec<u8> {
        let device = self.ports.iter_mut().find(|(own, _)| *own == port);
        device.map_or(Vec::new(), |(_, device)| device.0.receive_byte(byte, now_ns))
    }

    /// Reports a pin's new level to all devices at pins. Returns the pins that they drive then, with levels.
    pub fn change_pin(&mut self, pin: u16, level: bool, now_ns: u64) -> Vec<(u16, bool)> {
        self.pins.iter_mut().flat_map(|device| device.0.change_pin(pin, level, now_ns)).collect()
    }
}

/// The devices on an I2C bus.
#[derive(Debug, Clone, Default)]
pub struct I2cBus {
    devices: Vec<(u16, AttachedDevice)>,
    /// The device that acknowledged its address.
    addressed: Option<usize>,
}

impl I2cBus {
    /// Attaches a device at an I2C address. Returns false if the address is taken.
    pub fn attach_i2c_device(&mut self, address: u16, device: AttachedDevice) -> bool {
        let is_free = self.devices.iter().all(|&(taken, _)| taken != address);
        if is_free {
            self.devices.push((address, device));
        }
        is_free
    }

    /// Sends a START with an address, at the begin of a transfer or within it. Returns true if a device acknowledges.
    pub fn i2c_start(&mut self, address: u16, reads: bool, now_ns: u64) -> bool {
        let found = self.devices.iter().position(|&(own, _)| own == address);
        self.addressed = found.filter(|&index| self.devices[index].1.0.i2c_start(reads, now_ns));
        self.addressed.is_some()
    }

    /// Returns the device that the last address selected, or `None` if no device has that address.
    fn device_in_transfer(&mut self) -> Option<&mut dyn Device> {
        let index = self.addressed?;
        Some(&mut *self.devices[index].1.0)
    }

    /// Sends a byte to the addressed device. Returns true if the device acknowledges.
    pub fn i2c_write(&mut self, byte: u8, now_ns: u64) -> bool {
        self.device_in_transfer().is_some_and(|device| device.i2c_write(byte, now_ns))
    }

    /// Reads a byte from the addressed device. Returns 0xff if no device drives the line.
    pub fn i2c_read(&mut self, now_ns: u64) -> u8 {
        self.device_in_transfer().map_or(0xff, |device| device.i2c_read(now_ns))
    }

    /// Ends the I2C transfer, and reports that to the addressed device.
    pub fn i2c_stop(&mut self, now_ns: u64) {
        if let Some(device) = self.device_in_transfer() {
            device.i2c_stop(now_ns);
        }
        self.addressed = None;
    }
}

/// A device on an SPI bus.
#[derive(Debug, Clone)]
struct SpiSlot {
    /// The pin that selects it while low. Without one it is always selected.
    select: Option<u16>,
    selected: bool,
    device: AttachedDevice,
}

/// The devices on an SPI bus.
#[derive(Debug, Clone, Default)]
pub struct SpiBus {
    slots: Vec<SpiSlot>,
}

impl SpiBus {
    /// Attaches a device. `select` is the pin that selects it while low, if there is one.
    pub fn attach_spi_device(&mut self, select: Option<u16>, device: AttachedDevice) {
        self.slots.push(SpiSlot { select, selected: select.is_none(), device });
    }

    /// Returns whether levels of pins select any device.
    #[inline]
    #[must_use]
    pub fn has_chip_select_pins(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Updates which devices are selected, by the levels of their pins. `level` returns a pin's level, or `None` if it
    /// is unknown.
    pub fn update_selected_devices(&mut self, level: impl Fn(u16) -> Option<bool>, now_ns: u64) {
        for slot in &mut self.slots {
            let Some(level) = slot.select.and_then(&level) else { continue };
            let selected = !level;
            if selected != std::mem::replace(&mut slot.selected, selected) {
                slot.device.0.spi_select(selected, now_ns);
            }
        }
    }

    /// Sends a frame to all selected devices. Returns the frame of the first of them, or 0 if nobody drives the line.
    pub fn exchange_frame(&mut self, frame: u32, bits: u32, now_ns: u64) -> u32 {
        let mut answer = None;
        for slot in self.slots.iter_mut().filter(|slot| slot.selected) {
            let sent = slot.device.0.exchange_frame(frame, bits, now_ns);
            answer = answer.or(Some(sent));
        }
        answer.unwrap_or(0) & (u32::MAX >> (32 - bits.clamp(1, 32)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A memory of 256 bytes whose first byte written is an address. It answers SPI frames with the last frame.
    #[derive(Debug, Clone)]
    pub struct Memory {
        pub bytes: [u8; 256],
        address: Option<u8>,
        last_frame: u32,
    }

    impl Memory {
        pub fn boxed() -> AttachedDevice {
            AttachedDevice(Box::new(Memory { bytes: [0; 256], address: None, last_frame: 0 }))
        }
    }

    impl Device for Memory {
        fn i2c_start(&mut self, reads: bool, _: u64) -> bool {
            if !reads {
                self.address = None;
            }
            true
        }

        fn i2c_write(&mut self, byte: u8, _: u64) -> bool {
            match self.address {
                None => self.address = Some(byte),
                Some(0xff) => return false,
                Some(at) => {
                    self.bytes[at as usize] = byte;
                    self.address = Some(at + 1);
                }
            }
            true
        }

        fn i2c_read(&mut self, _: u64) -> u8 {
            let at = self.address.unwrap_or(0);
            self.address = Some(at.wrapping_add(1));
            self.bytes[at as usize]
        }

        fn spi_select(&mut self, selected: bool, _: u64) {
            self.last_frame = if selected { 0x5a } else { 0 };
        }

        fn exchange_frame(&mut self, frame: u32, _: u32, _: u64) -> u32 {
            std::mem::replace(&mut self.last_frame, frame)
        }

        fn clone_device(&self) -> Box<dyn Device> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn only_the_addressed_device_answers() {
        let mut bus = I2cBus::default();
        assert!(bus.attach_i2c_device(0x50, Memory::boxed()));
        assert!(!bus.attach_i2c_device(0x50, Memory::boxed()));
        assert!(!bus.i2c_start(0x51, false, 0));
        assert_eq!((bus.i2c_write(1, 0), bus.i2c_read(0)), (false, 0xff));
        assert!(bus.i2c_start(0x50, false, 0));
        assert!(bus.i2c_write(7, 0) && bus.i2c_write(0xaa, 0));
        let mut copy = bus.clone();
        bus.i2c_stop(0);
        assert!(bus.i2c_start(0x50, false, 0) && bus.i2c_write(7, 0) && bus.i2c_start(0x50, true, 0));
        assert_eq!(bus.i2c_read(0), 0xaa);
        assert!(copy.i2c_write(0xbb, 0), "a copy goes on by itself");
        assert_eq!(bus.i2c_read(0), 0);
    }

    #[test]
    fn a_selected_device_exchanges_frames() {
        let mut bus = SpiBus::default();
        assert_eq!(bus.exchange_frame(1, 8, 0), 0);
        bus.attach_spi_device(Some(17), Memory::boxed());
        assert_eq!(bus.exchange_frame(1, 8, 0), 0);
        bus.update_selected_devices(|pin| Some(pin != 17), 0);
        assert_eq!((bus.exchange_frame(0x1ff, 8, 0), bus.exchange_frame(2, 8, 0)), (0x5a, 0xff));
        bus.update_selected_devices(|_| None, 0);
        assert_eq!(bus.exchange_frame(4, 8, 0), 2, "nothing is known of the pin");
        bus.update_selected_devices(|_| Some(true), 0);
        assert_eq!(bus.exchange_frame(3, 8, 0), 0);
    }
}
