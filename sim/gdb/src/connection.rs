//! The connection to gdb: a socket on which waiting can be ended from outside.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use gdbstub::conn::{Connection, ConnectionExt};

use crate::Shared;

/// Between two looks whether the host still wants to wait.
const PATIENCE: Duration = Duration::from_millis(100);

/// gdb sends a packet in one piece and takes answers at once. One that falls silent within a packet, or takes nothing, for
/// so long is no gdb, and the next client waits for its end.
const LONGEST_STALL: Duration = Duration::from_secs(5);

/// The position of the last received byte in a gdb packet (`$`, its body, `#`, two digits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Body,
    Checksum { missing: u8 },
}

impl Place {
    /// Returns the position after this byte.
    fn after(self, byte: u8) -> Place {
        match (self, byte) {
            (Place::Between, b'$') => Place::Body,
            (Place::Between, _) | (Place::Checksum { missing: ..=1 }, _) => Place::Between,
            (Place::Body, b'#') => Place::Checksum { missing: 2 },
            (Place::Body, _) => Place::Body,
            (Place::Checksum { missing }, _) => Place::Checksum { missing: missing - 1 },
        }
    }
}

/// A connection to gdb.
pub struct GdbStream<'h> {
    stream: TcpStream,
    host: Shared<'h>,
    /// A byte that was looked at and not taken.
    peeked: Option<u8>,
    place: Place,
    /// When the last byte came.
    heard: Instant,
}

impl<'h> GdbStream<'h> {
    /// Creates a connection over a socket. The error is the system's.
    pub fn new(stream: TcpStream, host: Shared<'h>) -> io::Result<GdbStream<'h>> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(LONGEST_STALL))?;
        Ok(GdbStream { stream, host, peeked: None, place: Place::Between, heard: Instant::now() })
    }

    /// Returns the next byte that gdb has sent, and waits for it.
    fn next(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        match Read::read(&mut self.stream, &mut byte) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => {
                self.place = self.place.after(byte[0]);
                self.heard = Instant::now();
                Ok(byte[0])
            }
            Err(error) if waits(&error) && self.place != Place::Between && self.heard.elapsed() > LONGEST_STALL => {
                Err(io::Error::other("a packet is incomplete"))
            }
            Err(error) => Err(error),
        }
    }
}

impl Connection for GdbStream<'_> {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        Write::write_all(&mut self.stream, &[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.stream)
    }
}

impl ConnectionExt for GdbStream<'_> {
    fn read(&mut self) -> io::Result<u8> {
        if let Some(byte) = self.peeked.take() {
            return Ok(byte);
        }
        loop {
            match self.next() {
                Err(error) if waits(&error) => {
                    if !self.host.borrow_mut().goes_on() {
                        return Err(ErrorKind::ConnectionAborted.into());
                    }
                }
                found => return found,
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.peeked.is_none() {
            self.stream.set_nonblocking(true)?;
            let byte = self.next();
            self.stream.set_nonblocking(false)?;
            match byte {
                Ok(byte) => self.peeked = Some(byte),
                Err(error) if waits(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.peeked)
    }
}

/// Whether an error only says that no byte has arrived yet.
fn waits(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
