//! A virtual board under gdb, forwards and backwards.
//!
//! The protocol is the `gdbstub` crate's. This crate adds the past of a run ([`timeline`]), the registers of a
//! Cortex-M for gdb, and the answers to `monitor`.

mod connection;
mod monitor;
mod registers;
mod target;
pub mod timeline;

use std::cell::RefCell;
use std::io::ErrorKind;
use std::net::TcpStream;

use gdbstub::stub::{DisconnectReason, GdbStub};
use rtoslab_machine::Snapshot;
use rtoslab_machine::board::Board;

use connection::GdbStream;
use target::{DebugTarget, GdbEventLoop};
use timeline::ReversibleBoardRun;

/// The program that started the debugging, to which a session reports.
pub trait Host {
    /// Prints text that the firmware wrote, with the name of its channel. A console's is empty.
    fn print_firmware_text(&mut self, channel: &str, text: &[u8]);
    /// Shows the user a message about the session that gdb itself does not show. It is one sentence.
    fn show_message(&mut self, sentence: &str);
    /// Returns whether the debugging session continues to wait. False ends it.
    fn does_session_continue(&mut self) -> bool;
    /// Returns the tasks of the board in this state. None if the image has no kernel that the host knows.
    fn tasks_of_board(&mut self, now: &Snapshot) -> Vec<Task>;
}

/// A task of the image's kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Address of its control block.
    pub block: u32,
    /// Its name, and what else the kernel says of it.
    pub about: String,
    /// The core that executes it.
    pub core: Option<usize>,
    /// The registers that its stack holds, by the board's names. Empty if the kernel's frame is unknown.
    pub registers: Vec<(String, u32)>,
}

/// The host of a session, which connection, timeline and target share.
pub type Shared<'h> = &'h RefCell<dyn Host + 'h>;

/// How a debugging session with gdb ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebugSessionEndReason {
    /// gdb went away and left the board as it stands.
    Detached,
    /// gdb wants no more of it.
    Killed,
    /// The host did not continue.
    Stopped,
    /// The connection or what came over it is broken. One clause.
    Broken(String),
}

/// Serves one session on a connected socket.
pub fn serve_gdb_session<'h>(board: &'h mut dyn Board, stream: TcpStream, host: Shared<'h>) -> DebugSessionEndReason {
    let line = match GdbStream::new(stream, host) {
        Ok(line) => line,
        Err(error) => return DebugSessionEndReason::Broken(error.to_string()),
    };
    let timeline =
        ReversibleBoardRun::new(board, move |channel, text| host.borrow_mut().print_firmware_text(channel, text));
    let mut debugged = DebugTarget::new(timeline, host);
    let ended = GdbStub::new(line).run_blocking::<GdbEventLoop<'_>>(&mut debugged);
    let killed = debugged.is_killed();
    match ended {
        Ok(DisconnectReason::Kill) => DebugSessionEndReason::Killed,
        Ok(_) => DebugSessionEndReason::Detached,
        Err(_) if !host.borrow_mut().does_session_continue() => DebugSessionEndReason::Stopped,
        Err(error) => {
            let why = error.to_string();
            match error.into_connection_error() {
                // gdb's `disconnect` and its end close the connection without a word.
                Some((cause, _)) if cause.kind() == ErrorKind::UnexpectedEof && killed => DebugSessionEndReason::Killed,
                Some((cause, _)) if cause.kind() == ErrorKind::UnexpectedEof => DebugSessionEndReason::Detached,
                _ => DebugSessionEndReason::Broken(why),
            }
        }
    }
}
