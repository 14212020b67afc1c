//! A machine under gdb.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtoslab_gdb::{DebugSessionEndReason, Host, Task, serve_gdb_session};

use crate::snapshot::{BoardRecipe, Snapshot};
use crate::{Machine, SimError};

/// Between two looks for gdb while it is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The Python functions that a session notifies.
struct DebugSessionCallbacks<'py> {
    py: Python<'py>,
    print: Bound<'py, PyAny>,
    note: Bound<'py, PyAny>,
    tasks: Bound<'py, PyAny>,
    make: Arc<BoardRecipe>,
    /// The first exception that one of them raised, or a signal's.
    raised: Option<PyErr>,
}

/// A task of the kernel: address of its control block, name and state, core, registers by name.
type TaskRow = (u32, String, Option<usize>, Vec<(String, u32)>);

/// Converts a task as Python gives it.
fn convert_python_task((block, about, core, registers): TaskRow) -> Task {
    Task { block, about, core, registers }
}

impl DebugSessionCallbacks<'_> {
    /// Stores the exception of a callback, if it is the first one.
    fn keep_first_callback_exception(&mut self, result: PyResult<()>) {
        if let (Err(error), None) = (result, &self.raised) {
            self.raised = Some(error);
        }
    }
}

impl Host for DebugSessionCallbacks<'_> {
    /// Calls Python's function for text that the firmware wrote, with the name of its channel.
    fn print_firmware_text(&mut self, channel: &str, text: &[u8]) {
        let result = self.print.call1((channel, PyBytes::new(self.py, text))).map(drop);
        self.keep_first_callback_exception(result);
    }

    /// Calls Python's function for messages about the session. The message is one sentence.
    fn show_message(&mut self, sentence: &str) {
        let result = self.note.call1((sentence,)).map(drop);
        self.keep_first_callback_exception(result);
    }

    /// Calls Python's function that finds the tasks of a board in this state. Returns none if it raises an exception.
    fn tasks_of_board(&mut self, now: &rtoslab_machine::Snapshot) -> Vec<Task> {
        let snapshot = Snapshot { make: self.make.clone(), inner: now.clone() };
        match self.tasks.call1((snapshot,)).and_then(|tasks| tasks.extract::<Vec<TaskRow>>()) {
            Ok(rows) => rows.into_iter().map(convert_python_task).collect(),
            Err(error) => {
                self.keep_first_callback_exception(Err(error));
                Vec::new()
            }
        }
    }

    /// Returns whether the session continues: no function has raised an exception, and no signal (Ctrl-C) has come.
    fn does_session_continue(&mut self) -> bool {
        let signals = self.py.check_signals();
        self.keep_first_callback_exception(signals);
        self.raised.is_none()
    }
}

/// The part of a machine that an attached debugger sees without stopping it.
#[pymethods]
impl Machine {
    /// Switches the answering of semihosting calls (BKPT 0xAB) on or off.
    fn serve_semihosting(&mut self, on: bool) {
        self.inner.debugger().serves = on;
    }

    /// Enables every stimulus port of the ITM at each reset.
    fn open_itm(&mut self) {
        self.inner.debugger().opens_itm = true;
    }

    /// Appends to the text that the firmware can read from semihosting's standard input.
    fn type_semihosting(&mut self, text: &[u8]) {
        self.inner.debugger().append_typed_text(text);
    }

    /// Removes the text that came by semihosting and ITM and returns it, with the channel of each part.
    fn take_debug_text<'py>(&mut self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let texts = self.inner.debugger().take_printed_text().into_iter();
        texts.map(|(channel, text)| (channel.channel_display_name(), PyBytes::new(py, &text))).collect()
    }

    /// Returns whether the firmware used the ITM while nothing had enabled it.
    fn asks_for_itm(&self) -> bool {
        self.inner.is_itm_used()
    }

    /// Returns the exit code with which the firmware ended last by semihosting.
    fn exit_code(&mut self) -> Option<u32> {
        self.inner.debugger().exit_code
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
        on_text: Bound<'py, PyAny>,
        note: Bound<'py, PyAny>,
        tasks: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let refused = |error: &dyn std::fmt::Display| SimError::new_err(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        listener.set_nonblocking(true).map_err(|error| refused(&error))?;
        let bound = listener.local_addr().map_err(|error| refused(&error))?;
        ready.call1((bound.to_string(),))?;
        let host = RefCell::new(DebugSessionCallbacks {
            py,
            print: on_text,
            note,
            tasks,
            make: self.make.clone(),
            raised: None,
        });
        loop {
            let (stream, from) = accept_connection_or_signal(py, &listener)?;
            host.borrow_mut().show_message(&format!("gdb has connected from {from}."));
            let end = serve_gdb_session(&mut *self.inner, stream, &host);
            if let Some(error) = host.borrow_mut().raised.take() {
                return Err(error);
            }
            match end {
                DebugSessionEndReason::Killed | DebugSessionEndReason::Stopped => return Ok(()),
                DebugSessionEndReason::Detached => {
                    host.borrow_mut().show_message("gdb has detached; the board is stopped.")
                }
                DebugSessionEndReason::Broken(why) => {
                    host.borrow_mut().show_message(&format!("The session has ended: {why}."))
                }
            }
        }
    }
}

/// Waits for a connection, and for signals meanwhile.
fn accept_connection_or_signal(py: Python<'_>, listener: &TcpListener) -> PyResult<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept() {
            Ok(found) => return Ok(found),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                py.check_signals()?;
                py.detach(|| sleep(PATIENCE));
            }
            Err(error) => return Err(SimError::new_err(format!("cannot wait for gdb: {error}"))),
        }
    }
}
