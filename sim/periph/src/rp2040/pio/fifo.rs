//! A state machine's FIFO: four words, eight or none when the two of a machine are joined (RP2040 data sheet 3.5.3).

/// Words of both FIFOs of a state machine together.
const MOST_WORDS: usize = 8;

/// A FIFO of words.
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

    /// Room for more words.
    pub fn room(&self) -> usize {
        self.depth - self.len
    }

    /// Returns whether a push would be lost. A FIFO of no words is both full and empty.
    pub fn is_full(&self) -> bool {
        self.len == self.depth
    }

    /// Returns whether there is nothing to pop.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a word. Returns false if there is no room.
    pub fn push(&mut self, word: u32) -> bool {
        if self.is_full() {
            return false;
        }
        self.words[(self.first + self.len) % MOST_WORDS] = word;
        self.len += 1;
        true
    }

    /// Takes the first word.
    pub fn pop(&mut self) -> Option<u32> {
        let word = self.get(0)?;
        self.first = (self.first + 1) % MOST_WORDS;
        self.len -= 1;
        Some(word)
    }

    /// Returns the word that `index` others precede in the FIFO.
    pub fn get(&self, index: usize) -> Option<u32> {
        (index < self.len).then(|| self.words[(self.first + index) % MOST_WORDS])
    }
}
