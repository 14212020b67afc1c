//! The warnings of a run: one sentence each, none of them twice.

/// Faults that are told. The first ones say what is wrong, and firmware that faults on purpose is rare.
const FAULTS: u8 = 8;

/// The warnings of a run.
///
/// A function that adds a warning returns the sentence with which a strict run stops, and nothing if the run
/// continues.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    texts: Vec<String>,
    faults: u8,
    /// Resets of the board, by what caused them.
    resets: Vec<Resets>,
    strict: bool,
}

impl Warnings {
    /// Creates an empty list. A strict run stops where others warn, the first time and every time.
    pub fn new(strict: bool) -> Warnings {
        Warnings { strict, ..Warnings::default() }
    }

    /// Returns the warnings, in the order of their occurrence.
    pub fn warning_texts(&self) -> &[String] {
        &self.texts
    }

    /// Adds a warning that may be repeated.
    pub fn add_repeatable_warning(&mut self, text: String) {
        self.texts.push(text);
    }

    /// Adds a warning unless an earlier one contains `key`. In a strict run, which stops then, returns the text.
    #[must_use]
    pub fn warn_once(&mut self, key: &str, text: String) -> Option<String> {
        if self.texts.iter().any(|text| text.contains(key)) {
            return self.strict.then_some(text);
        }
        let stops = self.strict.then(|| text.clone());
        self.texts.push(text);
        stops
    }

    /// Warns once of an unmodelled address, whatever the access is. In a strict run, which stops then, returns the
    /// text.
    #[must_use]
    pub fn warn_of_unmodelled_address(&mut self, what: &str, address: u32, pc: u32) -> Option<String> {
        self.warn_once(&format!("at 0x{address:08x} "), message_for_unmodelled_address(what, address, pc))
    }

    /// Warns once that the instruction at `pc` requested something unsupported.
    #[must_use]
    pub fn warn_of_unsupported_hardware_request(&mut self, about: &str, pc: u32) -> Option<String> {
        let known = self.texts.iter().any(|text| text.starts_with(about));
        if known && !self.strict {
            return None;
        }
        let text = format!("{about} (first used by 0x{pc:08x})");
        if !known {
            self.texts.push(text.clone());
        }
        self.strict.then_some(text)
    }

    /// Warns of the first store, by the instruction at `pc`, that read-only memory ignored.
    pub fn warn_of_ignored_store(&mut self, address: u32, pc: u32) {
        let begin = "a store to read-only memory at ";
        if !self.texts.iter().any(|text| text.starts_with(begin)) {
            self.texts.push(format!("{begin}0x{address:08x} changed nothing (first by 0x{pc:08x})"));
        }
    }

    /// Warns that `by` (a watchdog, or software) reset the board while core 0 was at `pc`. Later resets by the same are
    /// counted in the same warning.
    pub fn warn_of_reset(&mut self, by: &'static str, pc: u32, cycle: u64) {
        let Some(resets) = self.resets.iter_mut().find(|resets| resets.by == by) else {
            let first = format!("{by} reset the board in cycle {cycle} (core 0 was at 0x{pc:08x})");
            self.resets.push(Resets { by, place: self.texts.len(), first: first.clone(), more: 0 });
            return self.texts.push(first);
        };
        resets.more += 1;
        let times = if resets.more == 1 { "time" } else { "times" };
        self.texts[resets.place] = format!("{}, and {} {times} more, last in cycle {cycle}", resets.first, resets.more);
    }

    /// Warns of a fault that the firmware handles, if it is one of the first.
    pub fn warn_of_handled_fault(&mut self, text: String) {
        if self.faults < FAULTS {
            self.faults += 1;
            self.texts.push(text);
        }
    }
}

/// The resets of a board for one cause, which are one warning.
#[derive(Debug, Clone)]
struct Resets {
    by: &'static str,
    /// The place of the warning in the list.
    place: usize,
    /// The warning about the first of them.
    first: String,
    more: u64,
}

/// Returns the sentence that an address is not modelled.
pub fn message_for_unmodelled_address(what: &str, address: u32, pc: u32) -> String {
    format!("{what} at 0x{address:08x} is not modelled (first used by 0x{pc:08x})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_warns_once_for_all_accesses() {
        let mut warnings = Warnings::new(false);
        assert_eq!(warnings.warn_of_unmodelled_address("read of a UART register", 0x4000_0004, 0x100), None);
        assert_eq!(warnings.warn_of_unmodelled_address("write to a UART register", 0x4000_0004, 0x102), None);
        assert_eq!(warnings.warn_of_unmodelled_address("read of a UART register", 0x4000_0008, 0x104), None);
        let warning_of = |address: &str, pc: &str| {
            format!("read of a UART register at 0x{address} is not modelled (first used by 0x{pc})")
        };
        assert_eq!(warnings.warning_texts(), [warning_of("40000004", "00000100"), warning_of("40000008", "00000104")]);
    }

    #[test]
    fn only_the_first_ignored_store_is_a_warning() {
        let mut warnings = Warnings::new(true);
        warnings.warn_of_ignored_store(0x8, 0x0800_0198);
        warnings.warn_of_ignored_store(0xc, 0x0800_019a);
        let first = "a store to read-only memory at 0x00000008 changed nothing (first by 0x08000198)";
        assert_eq!(warnings.warning_texts(), [first]);
    }

    #[test]
    fn resets_are_counted_in_one_warning_for_each_cause() {
        let mut warnings = Warnings::new(false);
        warnings.warn_of_reset("the watchdog", 0x0800_0198, 5_000);
        let first = "the watchdog reset the board in cycle 5000 (core 0 was at 0x08000198)";
        assert_eq!(warnings.warning_texts(), [first]);
        warnings.warn_of_reset("software", 0x0800_0100, 7_000);
        warnings.warn_of_reset("the watchdog", 0x0800_019a, 10_000);
        warnings.warn_of_reset("the watchdog", 0x0800_019a, 15_000);
        let counted = format!("{first}, and 2 times more, last in cycle 15000");
        let software = "software reset the board in cycle 7000 (core 0 was at 0x08000100)".to_owned();
        assert_eq!(warnings.warning_texts(), [counted, software]);
    }

    #[test]
    fn strict_run_stops_each_time_and_warns_once() {
        let mut warnings = Warnings::new(true);
        for pc in [0x100, 0x200] {
            let text = format!("sleep is not modelled (first used by 0x{pc:08x})");
            assert_eq!(warnings.warn_of_unsupported_hardware_request("sleep is not modelled", pc), Some(text));
            let text = format!("code at 0x1fff0000 is not modelled (first used by 0x{pc:08x})");
            assert_eq!(warnings.warn_of_unmodelled_address("code", 0x1fff_0000, pc), Some(text));
        }
        assert_eq!(warnings.warning_texts().len(), 2);
        assert!(warnings.warning_texts().iter().all(|text| text.contains("0x00000100")), "{warnings:?}");
    }

    #[test]
    fn hardware_request_warns_once_if_unsupported() {
        let mut warnings = Warnings::new(false);
        assert_eq!(warnings.warn_of_unsupported_hardware_request("no stop mode", 0x100), None);
        assert_eq!(warnings.warn_of_unsupported_hardware_request("no stop mode", 0x200), None);
        assert_eq!(warnings.warning_texts(), ["no stop mode (first used by 0x00000100)"]);
    }

    #[test]
    fn first_eight_faults_are_reported_separately_from_warnings() {
        let mut warnings = Warnings::new(true);
        for fault in 0..20 {
            warnings.warn_of_handled_fault(format!("fault {fault}"));
            warnings.add_repeatable_warning(format!("warning {fault}"));
        }
        assert_eq!(warnings.warning_texts().iter().filter(|text| text.starts_with("fault")).count(), 8);
        assert_eq!(warnings.warning_texts().iter().filter(|text| text.starts_with("warning")).count(), 20);
        let mut again = warnings.clone();
        again.warn_of_handled_fault("a fault behind a snapshot".to_owned());
        assert_eq!(again.warning_texts(), warnings.warning_texts());
    }
}
