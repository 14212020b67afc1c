//! The debugger that is attached to a board: it answers semihosting calls and collects the text of the ITM.
//!
//! It takes no time. While a debugger answers, a core is halted and its counters stand still.

mod files;
pub mod semihosting;

use files::Files;

/// Seconds of the chip as integers: its clock may change at any time.
const NS_PER_S: u128 = 1_000_000_000;

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
    pub fn name(self) -> String {
        match self {
            Channel::Semihosting => "semihosting".to_owned(),
            Channel::SemihostingError => "semihosting-stderr".to_owned(),
            Channel::Stimulus(port) => format!("itm{port}"),
        }
    }
}

/// The virtual time since reset, which follows changes of the clock.
#[derive(Debug, Clone, Default)]
struct VirtualTime {
    /// Time at the last change.
    ns: u64,
    /// Cycle of that change.
    cycle: u64,
    hz: u64,
}

impl VirtualTime {
    /// Returns the virtual time at a cycle, in nanoseconds since reset.
    fn at(&self, cycle: u64) -> u64 {
        let cycles = u128::from(cycle.saturating_sub(self.cycle));
        self.ns + (cycles * NS_PER_S).checked_div(u128::from(self.hz)).unwrap_or(0) as u64
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
    files: Files,
    errno: u32,
    time: VirtualTime,
}

impl Debugger {
    /// Removes the text that was printed and returns it, in order, with the channel of each part.
    pub fn take(&mut self) -> Vec<(Channel, Vec<u8>)> {
        std::mem::take(&mut self.texts)
    }

    /// Appends text that the firmware printed on a channel.
    pub fn print(&mut self, channel: Channel, text: &[u8]) {
        match self.texts.last_mut() {
            Some((last, whole)) if *last == channel => whole.extend_from_slice(text),
            _ if text.is_empty() => {}
            _ => self.texts.push((channel, text.to_vec())),
        }
    }

    /// Appends to the text that the firmware can read from its standard input.
    pub fn type_text(&mut self, text: &[u8]) {
        self.files.input.extend(text);
    }

    /// Sets the core clock to `hz` from `cycle` on, for the virtual time.
    pub fn clock_changed(&mut self, cycle: u64, hz: u64) {
        let ns = self.time.at(cycle);
        self.time = VirtualTime { ns, cycle, hz };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_adds_up_through_changes_of_the_clock() {
        let mut debugger = Debugger::default();
        debugger.clock_changed(0, 16_000_000);
        debugger.clock_changed(16_000_000, 84_000_000);
        assert_eq!(debugger.time.at(16_000_000 + 42_000_000), 1_500_000_000);
        debugger.clock_changed(16_000_000 + 42_000_000, 0);
        assert_eq!(debugger.time.at(u64::MAX), 1_500_000_000);
    }

    #[test]
    fn text_of_one_channel_is_one_part_until_another_prints() {
        let mut debugger = Debugger::default();
        debugger.print(Channel::Semihosting, b"a");
        debugger.print(Channel::Semihosting, b"b");
        debugger.print(Channel::Stimulus(0), b"");
        debugger.print(Channel::Stimulus(0), b"c");
        let parts = [(Channel::Semihosting, b"ab".to_vec()), (Channel::Stimulus(0), b"c".to_vec())];
        assert_eq!(debugger.take(), parts);
        assert_eq!(debugger.take(), []);
    }
}
