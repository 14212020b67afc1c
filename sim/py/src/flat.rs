//! A bare v7-M core for tests of the instructions' results.

use crate::SimError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtoslab_machine::flat::{Flat, STATE_WORDS};

/// A bare ARMv7-M core with nothing but RAM, for tests of what instructions do.
#[pyclass(unsendable, module = "rtoslab._sim")]
pub struct FlatCore {
    inner: Flat,
}

#[pymethods]
impl FlatCore {
    /// Creates a core by its short name: m3, m4 or m7.
    #[new]
    fn new(kind: &str) -> PyResult<FlatCore> {
        match Flat::core_with_name(kind) {
            Some(inner) => Ok(FlatCore { inner }),
            None => Err(SimError::new_err(format!("there is no core {kind}; cores are m3, m4 and m7"))),
        }
    }

    /// Makes runs stop before this address.
    fn until(&mut self, address: u32) {
        self.inner.stop_before_address(address);
    }

    /// Copies bytes into the RAM.
    fn write(&mut self, address: u32, data: &[u8]) -> PyResult<()> {
        match self.inner.write_bytes(address, data) {
            true => Ok(()),
            false => Err(SimError::new_err(format!("{} bytes at 0x{address:08x} are not all in RAM", data.len()))),
        }
    }

    /// Returns bytes of the RAM.
    fn read<'py>(&mut self, py: Python<'py>, address: u32, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        match self.inner.read_bytes(address, length) {
            Some(bytes) => Ok(PyBytes::new(py, bytes)),
            None => Err(SimError::new_err(format!("{length} bytes at 0x{address:08x} are not all in RAM"))),
        }
    }

    /// Returns r0 to r12, SP, LR, PC, APSR, S0 to S31 and FPSCR.
    fn state(&self) -> Vec<u32> {
        self.inner.register_values().to_vec()
    }

    /// Sets the registers that `state` returns.
    fn set_state(&mut self, words: Vec<u32>) -> PyResult<()> {
        let words: [u32; STATE_WORDS] = words.try_into().map_err(|words: Vec<u32>| {
            SimError::new_err(format!("{} words are not the state of a core", words.len()))
        })?;
        self.inner.set_register_values(&words);
        Ok(())
    }

    /// Sets CCR.
    fn set_ccr(&mut self, value: u32) {
        self.inner.write_configuration_control_register(value);
    }

    /// Sets CPACR.
    fn set_cpacr(&mut self, value: u32) {
        self.inner.set_coprocessor_access(value);
    }

    /// Executes up to `cycles` instructions, `pause` at a time. Returns why it stopped.
    #[pyo3(signature = (cycles, pause=u64::MAX))]
    fn run(&mut self, cycles: u64, pause: u64) -> String {
        format!("{:?}", self.inner.run_instructions(cycles, pause))
    }

    /// Returns the number of instructions executed so far.
    fn instructions(&self) -> u64 {
        self.inner.executed_instruction_count()
    }
}
