//! Tables of zeros that cost nothing until they are touched.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// The begin: at a line of the host's cache.
const LINE: usize = 64;
/// The size up to which the host's allocator gives zeros by itself. Asked for more, Rust's clears the memory itself,
/// and with that touches all of it.
const GIVEN: usize = 8;

/// A zeroed array to which the host gives memory as it is touched, so that tables of large flashes stay small.
pub struct LazyZeroedArray<T> {
    start: NonNull<T>,
    count: usize,
    block: NonNull<u8>,
    layout: Layout,
}

impl<T: Copy> LazyZeroedArray<T> {
    /// Creates an array of `count` elements whose bytes are all 0.
    ///
    /// # Safety
    /// All-zero bytes are a value of `T`.
    pub unsafe fn new(count: usize) -> LazyZeroedArray<T> {
        let table = Layout::array::<T>(count.max(1)).expect("a table of code");
        assert!(table.align() <= LINE);
        let layout = Layout::from_size_align(table.size() + LINE, GIVEN).expect("a table of code");
        // SAFETY: the layout has a size.
        let Some(block) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
        // SAFETY: less than a line on, and there is a line more than the table needs.
        let start = unsafe { block.add(block.align_offset(LINE)) }.cast();
        LazyZeroedArray { start, count, block, layout }
    }

    /// Returns a pointer to the first element of the array.
    pub fn first_element_pointer(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// Returns all elements of the array.
    pub fn all_lazy_array_elements(&mut self) -> &mut [T] {
        // SAFETY: `new` allocated so many, whose bytes were values of `T` and are; nobody else uses them meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

impl<T> Drop for LazyZeroedArray<T> {
    /// Frees the array's memory.
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.block.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lazy_array_is_zeroed() {
        for count in [0, 1, 5, 1 << 20] {
            // SAFETY: zeros are numbers.
            let mut table: LazyZeroedArray<u64> = unsafe { LazyZeroedArray::new(count) };
            assert_eq!(table.first_element_pointer() as usize % LINE, 0);
            assert!(table.all_lazy_array_elements().iter().all(|&each| each == 0));
            table.all_lazy_array_elements().fill(7);
            assert_eq!(table.all_lazy_array_elements().len(), count);
        }
    }
}
