//! The connection to gdb: a socket on which waiting can be ended from outside.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use gdbstub::conn::{Connection, ConnectionExt};

use crate::Shared;

/// Between two looks whether the host still wants to wait.
const PATIENCE: Duration = Duration::from_millis(100);

/// gdb sends a packet in one piece and takes answers at once. One that falls silent within a packet, or takes nothing,
/// for so long is no gdb, and the next client waits for its end.
const LONGEST_STALL: Duration = Duration::from_secs(5);

/// gdb's longest packet is one of its packet size, with each byte escaped. A client that sends more is no gdb.
const LONGEST_PACKET: usize = 1 << 16;

/// The position of the last taken byte in a gdb packet (`$`, its body, `#`, two digits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Body,
    Checksum { missing: u8 },
}

impl Place {
    /// Returns the position after this byte.
    fn packet_position_after_byte(self, byte: u8) -> Place {
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
    /// Bytes that were received and not taken, in the order in which they came.
    received: VecDeque<u8>,
    /// The position of the last taken byte.
    place: Place,
    /// The taken bytes of the packet's body.
    body: usize,
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
        let received = VecDeque::new();
        Ok(GdbStream { stream, host, received, place: Place::Between, body: 0, heard: Instant::now() })
    }

    /// Receives at least one byte. The error is the system's, or says what is wrong with the client.
    fn receive_from_gdb(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        match Read::read(&mut self.stream, &mut bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.received.extend(&bytes[..count]);
                self.heard = Instant::now();
                Ok(())
            }
            Err(error)
                if is_waiting_for_first_byte(&error)
                    && self.place != Place::Between
                    && self.heard.elapsed() > LONGEST_STALL =>
            {
                Err(io::Error::other("a packet is incomplete"))
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the first of the received bytes. `None` if there is none.
    fn take_received_byte(&mut self) -> io::Result<Option<u8>> {
        let Some(byte) = self.received.pop_front() else { return Ok(None) };
        self.place = self.place.packet_position_after_byte(byte);
        self.body = if self.place == Place::Body { self.body + 1 } else { 0 };
        if self.body > LONGEST_PACKET {
            return Err(io::Error::other(format!("a packet is longer than {LONGEST_PACKET} bytes")));
        }
        Ok(Some(byte))
    }
}

impl Connection for GdbStream<'_> {
    /// The error of the socket.
    type Error = io::Error;

    /// Sends a byte to gdb.
    fn write(&mut self, byte: u8) -> io::Result<()> {
        Write::write_all(&mut self.stream, &[byte])
    }

    /// Sends bytes to gdb.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut self.stream, bytes)
    }

    /// Sends what is buffered to gdb.
    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.stream)
    }
}

impl ConnectionExt for GdbStream<'_> {
    /// Returns the next byte from gdb. Fails if the host ends the session meanwhile.
    fn read(&mut self) -> io::Result<u8> {
        loop {
            if let Some(byte) = self.take_received_byte()? {
                return Ok(byte);
            }
            match self.receive_from_gdb() {
                Err(error) if is_waiting_for_first_byte(&error) => {
                    if !self.host.borrow_mut().does_session_continue() {
                        return Err(ErrorKind::ConnectionAborted.into());
                    }
                }
                received => received?,
            }
        }
    }

    /// Returns the next byte from gdb without taking it, or `None` if none has arrived.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.received.is_empty() {
            self.stream.set_nonblocking(true)?;
            let received = self.receive_from_gdb();
            self.stream.set_nonblocking(false)?;
            match received {
                Err(error) if !is_waiting_for_first_byte(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(self.received.front().copied())
    }
}

/// Returns whether an error only says that no byte has arrived yet.
fn is_waiting_for_first_byte(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
