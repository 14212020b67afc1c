//! The event record that every tracing instrument writes.

use std::borrow::Cow;

use zerocopy::{Immutable, IntoBytes};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// An address under an execution probe is about to execute. The value is R0. For a watched function's calls, the
    /// pc is the address where the caller continues, and `more` is R1 or R2.
    Exec = 1,
    /// A watched word was written. The value is the new word.
    Write = 2,
    /// First cycle of a handler. The id is the exception number, the value the cycles since recognition.
    ExceptionEnter = 3,
    /// Return from a handler. The id is the exception number.
    ExceptionExit = 4,
    /// A pin changed. The id is the GPIO number, the value its level.
    Pin = 5,
    /// A watched function is entered. The id is the caller's, the value R0, the pc its address.
    Call = 6,
    /// It returns. The id is the same, the value R0, the pc where the caller continues.
    Return = 7,
    /// Another thread of control continues. The value is its number, the pc its first function.
    Thread = 8,
    /// A read found a lock of the other core. The id is the lock, the pc that of the read.
    LockBusy = 9,
    /// A lock was taken. The id is the lock.
    LockTaken = 10,
    /// A lock was released. The id is the lock.
    LockFree = 11,
}

/// One recorded event of a run: 24 bytes, little endian in exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Immutable, IntoBytes)]
#[repr(C)]
pub struct Event {
    /// clk_sys cycle.
    pub cycle: u64,
    /// Meaning by kind.
    pub value: u32,
    /// Address of the instruction concerned.
    pub pc: u32,
    /// Probe identifier, exception number or GPIO number.
    pub id: u16,
    /// A [`Kind`].
    pub kind: u8,
    /// Core.
    pub core: u8,
    /// R1 or R2 of a watched call, else zero.
    pub more: u32,
}

impl Event {
    /// Bytes of a record.
    pub const BYTES: usize = size_of::<Event>();

    /// Returns events as bytes, one after the other, [`Event::BYTES`] each.
    pub fn encode_recorded_events(events: &[Event]) -> Cow<'_, [u8]> {
        if cfg!(target_endian = "little") {
            return Cow::Borrowed(events.as_bytes());
        }
        events.iter().flat_map(Event::to_bytes).collect()
    }

    /// Returns the event as bytes.
    pub fn to_bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[0..8].copy_from_slice(&self.cycle.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.value.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.pc.to_le_bytes());
        bytes[16..18].copy_from_slice(&self.id.to_le_bytes());
        bytes[18] = self.kind;
        bytes[19] = self.core;
        bytes[20..24].copy_from_slice(&self.more.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_records_are_stored_consecutively() {
        let event = |number: u64| Event {
            cycle: 0x0102_0304_0506_0708 + number,
            value: 0x090a_0b0c,
            pc: 0x0d0e_0f10,
            id: 0x1112,
            kind: Kind::Write as u8,
            core: 1,
            more: 0x1314_1516,
        };
        let events = [event(0), event(1)];
        let bytes = Event::encode_recorded_events(&events).into_owned();
        assert_eq!(bytes, [event(0).to_bytes(), event(1).to_bytes()].concat()[..]);
        assert_eq!(bytes[..8], [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(bytes[12..], [&event(0).to_bytes()[12..], &event(1).to_bytes()[..]].concat()[..]);
    }
}
