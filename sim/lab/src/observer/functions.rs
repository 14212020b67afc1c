//! Which function an address belongs to.

/// A table of the functions of an image, by address.
#[derive(Debug, Clone, Default)]
pub struct Functions {
    /// First address and the address after the last, in order.
    ranges: Vec<(u32, u32)>,
}

impl Functions {
    /// Creates the table from the functions' first addresses and sizes in bytes. A function of unknown size (0) reaches
    /// to the next one.
    pub fn new(symbols: impl IntoIterator<Item = (u32, u32)>) -> Functions {
        let mut ranges: Vec<(u32, u32)> = symbols.into_iter().collect();
        ranges.sort_unstable();
        ranges.dedup_by_key(|range| range.0);
        for index in 0..ranges.len() {
            let next = ranges.get(index + 1).map_or(u32::MAX, |range| range.0);
            let (start, bytes) = ranges[index];
            ranges[index].1 = if bytes == 0 { next } else { next.min(start.saturating_add(bytes)) };
        }
        Functions { ranges }
    }

    /// Returns the first address, and the one after the last, of the function that contains an address, or of the gap
    /// between functions.
    pub fn function_range(&self, address: u32) -> (u32, u32) {
        let behind = self.ranges.partition_point(|range| range.0 <= address);
        let (start, end) = behind.checked_sub(1).map_or((0, 0), |index| self.ranges[index]);
        if address < end {
            return (start, end);
        }
        (end, self.ranges.get(behind).map_or(u32::MAX, |range| range.0))
    }

    /// Returns whether a function begins at the address.
    pub fn does_function_begin_at(&self, address: u32) -> bool {
        self.ranges.binary_search_by_key(&address, |range| range.0).is_ok()
    }

    /// Returns the first address of the function that contains an address. In a gap it is the address itself.
    pub fn function_start_of(&self, address: u32) -> u32 {
        let (start, _) = self.function_range(address);
        if self.does_function_begin_at(start) { start } else { address }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_end_at_their_size_and_gaps_have_no_owner() {
        let functions = Functions::new([(0x200, 0x10), (0x100, 0), (0x300, 0x40)]);
        assert_eq!(functions.function_range(0x1fe), (0x100, 0x200));
        assert_eq!(functions.function_range(0x20e), (0x200, 0x210));
        assert_eq!(functions.function_range(0x210), (0x210, 0x300));
        assert_eq!(functions.function_range(0x10), (0, 0x100));
        assert_eq!((functions.function_start_of(0x208), functions.function_start_of(0x250)), (0x200, 0x250));
        assert!(functions.does_function_begin_at(0x300) && !functions.does_function_begin_at(0x302));
    }
}
