//! Devices that are written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtoslab_periph::device::{AttachedDevice, Connection, Device};

use crate::{Machine, SimError};

/// The first exception that a device has raised and no run has reported.
#[derive(Clone, Default)]
pub struct DeviceException(Arc<Mutex<Option<PyErr>>>);

impl DeviceException {
    /// Stores an exception, unless there is one already.
    fn store_first_device_exception(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Raises the stored exception.
    pub fn raise_stored_python_exception(&self) -> PyResult<()> {
        let error = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }
}

/// A device that a Python object implements. A method that the object lacks does nothing.
struct PythonDevice {
    object: Py<PyAny>,
    failure: DeviceException,
}

impl PythonDevice {
    /// Calls a method of the object. Returns `default` if it has none, if it returns None, and if it raises an
    /// exception.
    fn call_python_device_method<T, A>(&self, name: &str, arguments: A, default: T) -> T
    where
        T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
        A: for<'py> IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let result = || {
                if !object.hasattr(name)? {
                    return Ok(None);
                }
                let returned = object.getattr(name)?.call1(arguments.into_pyobject(py)?)?;
                if returned.is_none() { Ok(None) } else { returned.extract().map(Some) }
            };
            result().unwrap_or_else(|error| {
                self.failure.store_first_device_exception(error);
                None
            })
        })
        .unwrap_or(default)
    }
}

impl Device for PythonDevice {
    /// Receives an I2C START with the device's address, for a read or a write by the master. Returns true if the device
    /// acknowledges.
    fn i2c_start(&mut self, reads: bool, now_ns: u64) -> bool {
        self.call_python_device_method("start", (reads, now_ns), true)
    }

    /// Receives a byte over I2C. Returns true if the device acknowledges.
    fn i2c_write(&mut self, byte: u8, now_ns: u64) -> bool {
        self.call_python_device_method("write", (byte, now_ns), true)
    }

    /// Returns the byte that the device sends over I2C.
    fn i2c_read(&mut self, now_ns: u64) -> u8 {
        self.call_python_device_method("read", (now_ns,), 0xff)
    }

    /// Receives the end of an I2C transfer.
    fn i2c_stop(&mut self, now_ns: u64) {
        self.call_python_device_method("stop", (now_ns,), false);
    }

    /// Receives a change of the pin that selects the device on an SPI: true when it falls, false when it rises.
    fn spi_select(&mut self, selected: bool, now_ns: u64) {
        self.call_python_device_method("select", (selected, now_ns), false);
    }

    /// Exchanges an SPI frame of `bits` bits with the device: takes the master's frame, and returns the frame that the
    /// device sends meanwhile.
    fn exchange_frame(&mut self, frame: u32, bits: u32, now_ns: u64) -> u32 {
        self.call_python_device_method("exchange", (frame, bits, now_ns), 0)
    }

    /// Receives a byte from a serial port of the board. Returns the bytes that the device sends then.
    fn receive_byte(&mut self, byte: u8, now_ns: u64) -> Vec<u8> {
        self.call_python_device_method("receive", (byte, now_ns), Vec::new())
    }

    /// Receives a pin's new level. Returns the pins that the device drives from now on, with levels.
    fn change_pin(&mut self, pin: u16, level: bool, now_ns: u64) -> Vec<(u16, bool)> {
        self.call_python_device_method("change", (pin, level, now_ns), Vec::new())
    }

    /// Returns a copy of the device in the same state, for snapshots.
    fn clone_device(&self) -> Box<dyn Device> {
        let object = Python::attach(|py| {
            let copied = || py.import("copy")?.call_method1("deepcopy", (self.object.bind(py),));
            copied().map(Bound::unbind).unwrap_or_else(|error| {
                self.failure.store_first_device_exception(error);
                self.object.clone_ref(py)
            })
        });
        Box::new(PythonDevice { object, failure: self.failure.clone() })
    }
}

/// The part of a machine that devices concern.
#[pymethods]
impl Machine {
    /// Attaches a device to a bus, a serial port or the pins.
    #[pyo3(signature = (device, bus, number=0, *, address=None, select=None))]
    fn attach(
        &mut self,
        device: Py<PyAny>,
        bus: &str,
        number: u8,
        address: Option<u16>,
        select: Option<u16>,
    ) -> PyResult<()> {
        let connection = match (bus, address) {
            ("spi", _) => Connection::Spi(number, select),
            ("i2c", Some(address)) => Connection::I2c(number, address),
            ("i2c", None) => return Err(SimError::new_err("a device on an I2C bus needs an address")),
            ("uart", _) => Connection::Uart(number),
            ("pins", _) => Connection::Pins,
            _ => return Err(SimError::new_err(format!("there is no bus {bus}; give spi, i2c, uart or pins"))),
        };
        let device = PythonDevice { object: device, failure: self.make.failure.clone() };
        self.inner.attach_device(connection, AttachedDevice(Box::new(device))).map_err(SimError::new_err)
    }

    /// Sets the voltage at a pin that an ADC converts.
    fn set_analog(&mut self, pin: u16, millivolts: u32) -> PyResult<()> {
        self.inner.set_analog_voltage(pin, millivolts).map_err(SimError::new_err)
    }
}
