//! Semihosting: requests of the firmware to its debugger, by `BKPT 0xAB` with a number in R0 and a parameter in R1
//! (Arm, "Semihosting for AArch32 and AArch64", release 2.0).
//!
//! Only the terminal is reached. Files of the host, its time and its programs are not: a run gives the same bytes on
//! every host.

use super::files::{File, FileOpenRefusal};
use super::{Channel, Debugger};

/// The instruction that calls.
pub const BREAKPOINT: u16 = 0xbeab;

/// -1, the error of most operations.
const FAILED: u32 = u32::MAX;
/// Bytes of one transfer, string or name at most. A longer one is a mistake of the firmware.
const MOST_BYTES: usize = 1 << 20;
/// Unit of SYS_ELAPSED: a microsecond.
const TICKS_PER_S: u32 = 1_000_000;
/// The reason of an exit that is none by a failure.
const APPLICATION_EXIT: u32 = 0x2_0026;
const NO_SUCH_FILE: u32 = 2;
const BAD_HANDLE: u32 = 9;
const INVALID: u32 = 22;

/// The board's memory in which parameters and buffers of semihosting calls are.
pub trait SemihostingMemory {
    /// Returns bytes of memory, without side effects. `None` where there is no memory.
    fn read_bytes(&self, address: u32, count: usize) -> Option<Vec<u8>>;
    /// Writes bytes to RAM. Returns false outside of RAM.
    fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> bool;
}

/// The answer to a semihosting call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This value goes to R0.
    Value(u32),
    /// So does this one. The sentence says what the firmware asked for and does not get.
    Unsupported(u32, String),
    /// The firmware ends with this exit code.
    Exit(u32),
}

impl Debugger {
    /// Executes the semihosting call `operation`, `ns` nanoseconds after power-on.
    pub fn execute_call(
        &mut self,
        operation: u32,
        parameter: u32,
        ns: u64,
        memory: &mut dyn SemihostingMemory,
    ) -> Answer {
        let block = read_semihosting_parameters(memory, parameter);
        let words = |count: usize| block.get(..count);
        let value = match operation {
            0x01 => return self.execute_open(words(3), memory),
            0x02 => words(1).map(|block| self.execute_semihosting_close(block[0])),
            0x03 => memory.read_bytes(parameter, 1).map(|byte| {
                self.append_printed_text(Channel::Semihosting, &byte);
                0
            }),
            0x04 => string_bytes(memory, parameter).map(|text| {
                self.append_printed_text(Channel::Semihosting, &text);
                0
            }),
            0x05 => words(3).and_then(|block| self.execute_semihosting_write(block, memory)),
            0x06 => words(3).and_then(|block| self.execute_semihosting_read(block, memory)),
            0x07 => Some(self.files.input.pop_front().map_or(FAILED, u32::from)),
            0x08 => words(1).map(|block| u32::from((block[0] as i32) < 0)),
            0x09 => words(1).map(|block| {
                self.semihosting_file_value_or_error(block[0], |file| u32::from(file.is_semihosting_terminal()))
            }),
            0x0a => words(2).map(|block| self.execute_seek(block[0], block[1])),
            0x0c => words(1).map(|block| self.semihosting_file_value_or_error(block[0], |file| file.length_in_bytes())),
            0x10 => Some((ns / 10_000_000) as u32),
            0x11 => Some((ns / 1_000_000_000) as u32),
            0x13 => Some(self.errno),
            0x15 => words(2).map(|block| execute_get_command_line(block, parameter, memory)),
            0x16 => words(1).map(|block| if memory.write_bytes(block[0], &[0; 16]) { 0 } else { FAILED }),
            0x18 => return self.execute_exit(u32::from(parameter != APPLICATION_EXIT)),
            0x20 => {
                let code = words(2).filter(|block| block[0] == APPLICATION_EXIT).map(|block| block[1]);
                return self.execute_exit(code.unwrap_or(1));
            }
            0x30 => {
                let ticks = ns / (1_000_000_000 / u64::from(TICKS_PER_S));
                Some(if memory.write_bytes(parameter, &ticks.to_le_bytes()) { 0 } else { FAILED })
            }
            0x31 => Some(TICKS_PER_S),
            _ => return self.answer_unsupported_semihosting_call(operation),
        };
        value.map_or_else(
            || {
                let about = format!("semihosting: the parameters of operation 0x{operation:02x} are not in memory");
                self.errno = INVALID;
                Answer::Unsupported(FAILED, about)
            },
            Answer::Value,
        )
    }

    /// Executes the semihosting call SYS_OPEN.
    fn execute_open(&mut self, block: Option<&[u32]>, memory: &dyn SemihostingMemory) -> Answer {
        let block = block.filter(|block| block[2] as usize <= MOST_BYTES);
        let name = block.and_then(|block| memory.read_bytes(block[0], block[2] as usize));
        let (Some(block), Some(name)) = (block, name) else {
            self.errno = INVALID;
            return Answer::Value(FAILED);
        };
        match self.files.open_file(&name, block[1]) {
            Ok(handle) => Answer::Value(handle),
            Err(FileOpenRefusal::Invalid) => self.fail_with_error_number(INVALID).into(),
            Err(FileOpenRefusal::OfHost) => {
                self.errno = NO_SUCH_FILE;
                let name = String::from_utf8_lossy(&name).into_owned();
                Answer::Unsupported(
                    FAILED,
                    format!("semihosting: files of the host cannot be opened, such as {name:?}"),
                )
            }
        }
    }

    /// Executes the semihosting call SYS_EXIT.
    fn execute_exit(&mut self, code: u32) -> Answer {
        self.exit_code = Some(code);
        Answer::Exit(code)
    }

    /// Executes the semihosting call SYS_CLOSE. Returns 0, or -1 on failure.
    fn execute_semihosting_close(&mut self, handle: u32) -> u32 {
        if self.files.close(handle) { 0 } else { self.fail_with_error_number(BAD_HANDLE) }
    }

    /// Executes the semihosting call SYS_WRITE. Returns the number of bytes that were not written.
    fn execute_semihosting_write(&mut self, block: &[u32], memory: &dyn SemihostingMemory) -> Option<u32> {
        let channel = match self.files.open_file_with_handle(block[0]) {
            Some(File::Output) => Channel::Semihosting,
            Some(File::Error) => Channel::SemihostingError,
            _ => {
                self.errno = BAD_HANDLE;
                return Some(block[2]);
            }
        };
        let text = memory.read_bytes(block[1], (block[2] as usize).min(MOST_BYTES))?;
        self.append_printed_text(channel, &text);
        Some(block[2] - text.len() as u32)
    }

    /// Executes the semihosting call SYS_READ. Returns the number of bytes that were not read: all of them at the end
    /// of the file.
    fn execute_semihosting_read(&mut self, block: &[u32], memory: &mut dyn SemihostingMemory) -> Option<u32> {
        let Some(text) = self.files.read_file(block[0], (block[2] as usize).min(MOST_BYTES)) else {
            self.errno = BAD_HANDLE;
            return Some(block[2]);
        };
        (text.is_empty() || memory.write_bytes(block[1], &text)).then(|| block[2] - text.len() as u32)
    }

    /// Executes the semihosting call SYS_SEEK. Returns 0, or -1 on failure.
    fn execute_seek(&mut self, handle: u32, place: u32) -> u32 {
        match self.files.open_file_with_handle(handle) {
            Some(File::Features(at)) => {
                *at = place;
                0
            }
            Some(_) => self.fail_with_error_number(INVALID),
            None => self.fail_with_error_number(BAD_HANDLE),
        }
    }

    /// Returns a value of the file with this handle, or -1 if it is not open.
    fn semihosting_file_value_or_error(&mut self, handle: u32, value: impl FnOnce(File) -> u32) -> u32 {
        let file = self.files.open_file_with_handle(handle).copied();
        file.map_or_else(|| self.fail_with_error_number(BAD_HANDLE), value)
    }

    /// Sets semihosting's error number, and returns -1.
    fn fail_with_error_number(&mut self, errno: u32) -> u32 {
        self.errno = errno;
        FAILED
    }

    /// Returns the answer to a known operation that is not supported.
    fn answer_unsupported_semihosting_call(&mut self, operation: u32) -> Answer {
        let what = match operation {
            0x0d => "temporary file names are",
            0x0e | 0x0f => "removing and renaming files of the host is",
            0x12 => "running commands on the host is",
            _ => return self.answer_unknown_semihosting_call(operation),
        };
        Answer::Unsupported(self.fail_with_error_number(INVALID), format!("semihosting: {what} not supported"))
    }

    /// Returns the answer to an unknown semihosting operation.
    fn answer_unknown_semihosting_call(&mut self, operation: u32) -> Answer {
        Answer::Unsupported(
            self.fail_with_error_number(INVALID),
            format!("semihosting: the operation 0x{operation:02x} is unknown"),
        )
    }
}

impl From<u32> for Answer {
    /// Returns the answer that puts this value into R0.
    fn from(value: u32) -> Answer {
        Answer::Value(value)
    }
}

/// Returns the sentence of a stop because the firmware has exited.
pub fn firmware_exit_sentence(code: u32) -> String {
    format!("The firmware ended with exit code {code}.")
}

/// Returns the words of a parameter block, three at most: as many as there is memory for.
fn read_semihosting_parameters(memory: &dyn SemihostingMemory, address: u32) -> Vec<u32> {
    let word = |place: u32| memory.read_bytes(address.wrapping_add(4 * place), 4);
    let word = |place: u32| word(place)?.try_into().ok().map(u32::from_le_bytes);
    (0..3).map_while(word).collect()
}

/// Returns the bytes of a string up to its zero.
fn string_bytes(memory: &dyn SemihostingMemory, address: u32) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < MOST_BYTES {
        match memory.read_bytes(address.wrapping_add(text.len() as u32), 1)?.first() {
            Some(0) | None => break,
            Some(byte) => text.push(*byte),
        }
    }
    Some(text)
}

/// Executes SYS_GET_CMDLINE: the command line is empty.
fn execute_get_command_line(block: &[u32], parameter: u32, memory: &mut dyn SemihostingMemory) -> u32 {
    let fits =
        block[1] > 0 && memory.write_bytes(block[0], &[0]) && memory.write_bytes(parameter.wrapping_add(4), &[0; 4]);
    if fits { 0 } else { FAILED }
}

#[cfg(test)]
mod tests;
