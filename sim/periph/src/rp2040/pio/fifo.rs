//! A state machine's FIFO: four words, eight or none when the two of a machine are joined (RP2040 data sheet 3.5.3).

/// Words of both FIFOs of a state machine together.
const MOST_WORDS: usize = 8;

/// A FIFO of a PIO state machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fifo {
    words: [u32; MOST_WORDS],
    first: usize,
    len: usize,
    depth: usize,
}

impl Fifo {
    /// Creates an empty FIFO of `depth` words.
    pub const fn new(depth: usize) -> Self {
        Self { words: [0; MOST_WORDS], first: 0, len: 0, depth }
    }

    /// Returns the number of words in the FIFO.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of words for which the FIFO has room.
    pub fn free_word_count(&self) -> usize {
        self.depth - self.len
    }

    /// Returns whether the FIFO is full, so that a push would be lost. A FIFO of depth 0 is both full and empty.
    pub fn is_full(&self) -> bool {
        self.len == self.depth
    }

    /// Returns whether the FIFO is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a word to the FIFO. Returns false if there is no room.
    pub fn push(&mut self, word: u32) -> bool {
        if self.is_full() {
            return false;
        }
        self.words[(self.first + self.len) % MOST_WORDS] = word;
        self.len += 1;
        true
    }

    /// Removes the oldest word from the FIFO and returns it.
    pub fn pop(&mut self) -> Option<u32> {
        let word = self.fifo_word_at_index(0)?;
        self.first = (self.first + 1) % MOST_WORDS;
        self.len -= 1;
        Some(word)
    }

    /// Returns the word that `index` others precede in the FIFO.
    pub fn fifo_word_at_index(&self, index: usize) -> Option<u32> {
        (index < self.len).then(|| self.words[(self.first + index) % MOST_WORDS])
    }
}
