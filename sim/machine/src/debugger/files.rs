//! The files that semihosting opens: the terminal and the list of features. Files of the host are out of reach.

use std::collections::VecDeque;

/// Files that are open at the same time.
const MOST: usize = 16;
/// Content of `:semihosting-features`: a magic number, then SYS_EXIT_EXTENDED and separate standard output and error.
const FEATURES: [u8; 5] = [b'S', b'H', b'F', b'B', 3];

/// A file that the firmware has opened by semihosting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// `:tt` to be read.
    Input,
    /// `:tt` to be written.
    Output,
    /// `:tt` to be appended to.
    Error,
    /// `:semihosting-features` at an offset.
    Features(u32),
}

/// The reason why a file is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOpenRefusal {
    /// It is a file of the host.
    OfHost,
    /// Too many are open, or the mode is none.
    Invalid,
}

/// The open files of semihosting by handle, and the text that the standard input still contains.
#[derive(Debug, Clone, Default)]
pub struct SemihostingFiles {
    open: Vec<Option<File>>,
    pub input: VecDeque<u8>,
}

impl SemihostingFiles {
    /// Opens a file in one of the modes of `fopen`, 0 to 11. Returns its handle.
    pub fn open_file(&mut self, name: &[u8], mode: u32) -> Result<u32, FileOpenRefusal> {
        let file = match (name, mode) {
            (b":tt", 0..=3) => File::Input,
            (b":tt", 4..=7) => File::Output,
            (b":tt", 8..=11) => File::Error,
            (b":semihosting-features", 0..=1) => File::Features(0),
            (_, 12..) => return Err(FileOpenRefusal::Invalid),
            _ => return Err(FileOpenRefusal::OfHost),
        };
        let place = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if place == MOST {
            return Err(FileOpenRefusal::Invalid);
        }
        self.open.resize(self.open.len().max(place + 1), None);
        self.open[place] = Some(file);
        Ok(place as u32 + 1)
    }

    /// Returns the open file with this handle.
    pub fn open_file_with_handle(&mut self, handle: u32) -> Option<&mut File> {
        self.open.get_mut((handle as usize).checked_sub(1)?)?.as_mut()
    }

    /// Closes a semihosting file. Returns false if it is not open.
    pub fn close(&mut self, handle: u32) -> bool {
        let place = (handle as usize).checked_sub(1).and_then(|place| self.open.get_mut(place));
        place.and_then(Option::take).is_some()
    }

    /// Reads up to `bytes` bytes from a semihosting file. From a terminal a line at most, nothing at its end. `None` if
    /// it cannot be read.
    pub fn read_file(&mut self, handle: u32, bytes: usize) -> Option<Vec<u8>> {
        match self.open_file_with_handle(handle)? {
            File::Input => {
                let line = self.input.iter().position(|byte| *byte == b'\n').map_or(self.input.len(), |end| end + 1);
                Some(self.input.drain(..line.min(bytes)).collect())
            }
            File::Features(at) => {
                let rest = FEATURES.get(*at as usize..).unwrap_or_default();
                let part = &rest[..rest.len().min(bytes)];
                *at += part.len() as u32;
                Some(part.to_vec())
            }
            File::Output | File::Error => None,
        }
    }
}

impl File {
    /// Returns the length of the file in bytes, 0 for a terminal.
    pub fn length_in_bytes(self) -> u32 {
        if matches!(self, File::Features(_)) { FEATURES.len() as u32 } else { 0 }
    }

    /// Returns whether the file is the terminal.
    pub fn is_semihosting_terminal(self) -> bool {
        !matches!(self, File::Features(_))
    }
}
