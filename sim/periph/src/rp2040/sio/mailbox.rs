//! Inter-processor FIFOs (data sheet 2.3.1.4): one of eight words in each direction.

const DEPTH: usize = 8;

/// The FIFO from which one core reads.
#[derive(Debug, Clone, Default)]
struct CoreMailboxFifo {
    words: [u32; DEPTH],
    head: usize,
    len: usize,
}

/// The FIFOs between the two cores, with each core's sticky error flags.
#[derive(Debug, Clone, Default)]
pub(super) struct Mailboxes {
    /// FIFO `n` is read by core `n`.
    inbox: [CoreMailboxFifo; 2],
    write_on_full: [bool; 2],
    read_on_empty: [bool; 2],
}

impl Mailboxes {
    /// Returns FIFO_ST of `core`: VLD 0, RDY 1, WOF 2, ROE 3.
    #[inline]
    pub fn status_register(&self, core: usize) -> u32 {
        u32::from(self.inbox[core].len > 0)
            | u32::from(self.inbox[1 - core].len < DEPTH) << 1
            | u32::from(self.write_on_full[core]) << 2
            | u32::from(self.read_on_empty[core]) << 3
    }

    /// Returns whether a core's FIFO interrupt is pending: there is data, or a sticky error.
    #[inline]
    pub fn is_interrupt_pending(&self, core: usize) -> bool {
        self.inbox[core].len > 0 || self.write_on_full[core] || self.read_on_empty[core]
    }

    /// Writes a word to the other core. A full FIFO drops it and sets WOF.
    pub fn push_to_other_core(&mut self, core: usize, value: u32) {
        let ring = &mut self.inbox[1 - core];
        if ring.len == DEPTH {
            self.write_on_full[core] = true;
            return;
        }
        ring.words[(ring.head + ring.len) % DEPTH] = value;
        ring.len += 1;
    }

    /// Reads a word from the other core. An empty FIFO gives 0 and sets ROE.
    pub fn pop_from_other_core(&mut self, core: usize) -> u32 {
        let ring = &mut self.inbox[core];
        if ring.len == 0 {
            self.read_on_empty[core] = true;
            return 0;
        }
        let value = ring.words[ring.head];
        ring.head = (ring.head + 1) % DEPTH;
        ring.len -= 1;
        value
    }

    /// Clears WOF and ROE of a core.
    pub fn clear_error_flags(&mut self, core: usize) {
        self.write_on_full[core] = false;
        self.read_on_empty[core] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailbox_fifo_holds_eight_words() {
        let mut boxes = Mailboxes::default();
        assert_eq!((boxes.status_register(0), boxes.status_register(1)), (2, 2));
        for n in 0..8 {
            boxes.push_to_other_core(0, 100 + n);
        }
        assert_eq!((boxes.status_register(0), boxes.status_register(1)), (0, 3));
        boxes.push_to_other_core(0, 999);
        assert_eq!(boxes.status_register(0), 4);
        assert!(boxes.is_interrupt_pending(0));
        for n in 0..8 {
            assert_eq!(boxes.pop_from_other_core(1), 100 + n);
        }
        assert_eq!(boxes.status_register(1), 2);
        assert_eq!(boxes.pop_from_other_core(1), 0);
        assert_eq!(boxes.status_register(1), 0xa);
        boxes.clear_error_flags(1);
        assert_eq!((boxes.status_register(0), boxes.status_register(1)), (6, 2));
    }
}
