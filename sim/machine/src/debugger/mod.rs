//! The debugger that is attached to a board: it answers semihosting calls and collects the text of the ITM.
//!
//! It takes no time. While a debugger answers, a core is halted and its counters stand still.

mod files;
pub mod semihosting;

use files::SemihostingFiles;

/// A channel by which text reaches the debugger: semihosting, its error output, or an ITM port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Semihosting: single characters, strings, and the standard output.
    Semihosting,
    /// Semihosting's standard error.
    SemihostingError,
    /// A stimulus port of the ITM.
    Stimulus(u8),
}

impl Channel {
    /// Returns the channel's name that users see.
    pub fn channel_display_name(self) -> String {
        match self {
            Channel::Semihosting => "semihosting".to_owned(),
            Channel::SemihostingError => "semihosting-stderr".to_owned(),
            Channel::Stimulus(port) => format!("itm{port}"),
        }
    }
}

/// A debugger that is attached to a board, for semihosting and the ITM.
#[derive(Debug, Clone, Default)]
pub struct Debugger {
    /// It answers semihosting calls. Otherwise they are breakpoints without a debugger.
    pub serves: bool,
    /// It opens every stimulus port of the ITM at reset.
    pub opens_itm: bool,
    /// The exit code with which the firmware ended last.
    pub exit_code: Option<u32>,
    texts: Vec<(Channel, Vec<u8>)>,
    files: SemihostingFiles,
    errno: u32,
}

impl Debugger {
    /// Removes the text that was printed and returns it, in order, with the channel of each part.
    pub fn take_printed_text(&mut self) -> Vec<(Channel, Vec<u8>)> {
        std::mem::take(&mut self.texts)
    }

    /// Appends text that the firmware printed on a channel.
    pub fn append_printed_text(&mut self, channel: Channel, text: &[u8]) {
        match self.texts.last_mut() {
            Some((last, whole)) if *last == channel => whole.extend_from_slice(text),
            _ if text.is_empty() => {}
            _ => self.texts.push((channel, text.to_vec())),
        }
    }

    /// Appends to the text that the firmware can read from its standard input.
    pub fn append_typed_text(&mut self, text: &[u8]) {
        self.files.input.extend(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_one_channel_is_one_part_until_another_prints() {
        let mut debugger = Debugger::default();
        debugger.append_printed_text(Channel::Semihosting, b"a");
        debugger.append_printed_text(Channel::Semihosting, b"b");
        debugger.append_printed_text(Channel::Stimulus(0), b"");
        debugger.append_printed_text(Channel::Stimulus(0), b"c");
        let parts = [(Channel::Semihosting, b"ab".to_vec()), (Channel::Stimulus(0), b"c".to_vec())];
        assert_eq!(debugger.take_printed_text(), parts);
        assert_eq!(debugger.take_printed_text(), []);
    }
}
