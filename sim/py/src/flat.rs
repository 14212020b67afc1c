//! A bare v7-M core for tests of the instructions' results.

use crate::SimError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtoslab_machine::flat::{Flat, STATE_WORDS};

/// A v7-M core with nothing but RAM.
#[pyclass(unsendable, module = "rtoslab._sim")]
pub struct FlatCore {
    inner: Flat,
}

#[pymethods]
impl FlatCore {
    #[new]
    fn new(kind: &str) -> PyResult<FlatCore> {
        match Flat::named(kind) {
            Some(inner) => Ok(FlatCore { inner }),
            None => Err(SimError::new_err(format!("there is no core {kind}; cores are m3, m4 and m7"))),
        }
    }

    fn until(&mut self, address: u32) {
        self.inner.until(address);
    }

    fn write(&mut self, address: u32, data: &[u8]) -> PyResult<()> {
        match self.inner.write(address, data) {
            true => Ok(()),
            false => Err(SimError::new_err(format!("{} bytes at 0x{address:08x} are not all in RAM", data.len()))),
        }
    }

    fn read<'py>(&mut self, py: Python<'py>, address: u32, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        match self.inner.read(address, length) {
            Some(bytes) => Ok(PyBytes::new(py, bytes)),
            None => Err(SimError::new_err(format!("{length} bytes at 0x{address:08x} are not all in RAM"))),
        }
    }

    fn state(&self) -> Vec<u32> {
        self.inner.state().to_vec()
    }

    fn set_state(&mut self, words: Vec<u32>) -> PyResult<()> {
        let words: [u32; STATE_WORDS] = words.try_into().map_err(|words: Vec<u32>| {
            SimError::new_err(format!("{} words are not the state of a core", words.len()))
        })?;
        self.inner.set_state(&words);
        Ok(())
    }

    fn set_ccr(&mut self, value: u32) {
        self.inner.set_ccr(value);
    }

    fn set_cpacr(&mut self, value: u32) {
        self.inner.set_cpacr(value);
    }

    #[pyo3(signature = (cycles, pause=u64::MAX))]
    fn run(&mut self, cycles: u64, pause: u64) -> String {
        format!("{:?}", self.inner.run(cycles, pause))
    }

    fn instructions(&self) -> u64 {
        self.inner.instructions()
    }
}
