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
    /// An empty FIFO.
    pub const fn new(depth: usize) -> Self {
        Self { words: [0; MOST_WORDS], first: 0, len: 0, depth }
    }

    /// Number of words in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Room for more words.
    pub fn room(&self) -> usize {
        self.depth - self.len
    }

    /// Whether a push would be lost. A FIFO of no words is both full and empty.
    pub fn is_full(&self) -> bool {
        self.len == self.depth
    }

    /// Whether there is nothing to pop.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a word. False if there is no room.
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

    /// The word that comes after `index` others.
    pub fn get(&self, index: usize) -> Option<u32> {
        (index < self.len).then(|| self.words[(self.first + index) % MOST_WORDS])
    }
}
