//! A machine under gdb.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtoslab_gdb::{End, Host, serve};

use crate::{Machine, SimError};

/// Between two looks for gdb while it is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The Python functions that a session notifies.
struct Listener<'py> {
    py: Python<'py>,
    print: Bound<'py, PyAny>,
    note: Bound<'py, PyAny>,
    /// The first exception that one of them raised, or a signal's.
    raised: Option<PyErr>,
}

impl Listener<'_> {
    fn hear(&mut self, result: PyResult<()>) {
        if let (Err(error), None) = (result, &self.raised) {
            self.raised = Some(error);
        }
    }
}

impl Host for Listener<'_> {
    fn print(&mut self, text: &[u8]) {
        let result = self.print.call1((PyBytes::new(self.py, text),)).map(drop);
        self.hear(result);
    }

    fn note(&mut self, sentence: &str) {
        let result = self.note.call1((sentence,)).map(drop);
        self.hear(result);
    }

    fn goes_on(&mut self) -> bool {
        let signals = self.py.check_signals();
        self.hear(signals);
        self.raised.is_none()
    }
}

#[pymethods]
impl Machine {
    /// Serves gdb until it kills the board. After a detach it may connect again.
    fn debug<'py>(
        &mut self,
        py: Python<'py>,
        address: &str,
        ready: &Bound<'py, PyAny>,
        on_uart: Bound<'py, PyAny>,
        note: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let refused = |error: &dyn std::fmt::Display| SimError::new_err(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        listener.set_nonblocking(true).map_err(|error| refused(&error))?;
        let bound = listener.local_addr().map_err(|error| refused(&error))?;
        ready.call1((bound.to_string(),))?;
        let host = RefCell::new(Listener { py, print: on_uart, note, raised: None });
        loop {
            let (stream, from) = accept(py, &listener)?;
            host.borrow_mut().note(&format!("gdb has connected from {from}."));
            let end = serve(&mut *self.inner, stream, &host);
            if let Some(error) = host.borrow_mut().raised.take() {
                return Err(error);
            }
            match end {
                End::Killed | End::Stopped => return Ok(()),
                End::Detached => host.borrow_mut().note("gdb has detached; the board stands still."),
                End::Broken(why) => host.borrow_mut().note(&format!("The session has ended: {why}.")),
            }
        }
    }
}

fn accept(py: Python<'_>, listener: &TcpListener) -> PyResult<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept() {
            Ok(found) => return Ok(found),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                py.check_signals()?;
                py.detach(|| sleep(PATIENCE));
            }
            Err(error) => return Err(SimError::new_err(format!("gdb cannot be waited for: {error}"))),
        }
    }
}
