//! How often cached timing and native code were of use.

use std::ops::Add;

/// How often cached timing was used and missing, and how much native code was compiled and executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Traces or basic blocks whose time was cached.
    pub hits: u64,
    /// Those whose time was simulated, and mostly cached then.
    pub misses: u64,
    /// Traces or basic blocks that native code executed, to their end or to where they went another way.
    pub translated: u64,
    /// Translations made for that, of whole traces and of rests of them.
    pub translations: u64,
}

impl Add for Counts {
    /// The sum has the same type.
    type Output = Counts;

    /// Returns the sum of two caches' counts.
    fn add(self, more: Counts) -> Counts {
        Counts {
            hits: self.hits + more.hits,
            misses: self.misses + more.misses,
            translated: self.translated + more.translated,
            translations: self.translations + more.translations,
        }
    }
}
