//! Tables of zeros that cost nothing until they are touched.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// A zeroed array that the host gives memory to as it is touched: tables of large flashes stay small.
pub struct Lazy<T> {
    start: NonNull<T>,
    count: usize,
    layout: Layout,
}

impl<T: Copy> Lazy<T> {
    /// `count` elements whose bytes are all 0.
    ///
    /// # Safety
    /// All-zero bytes are a value of `T`.
    pub unsafe fn new(count: usize) -> Lazy<T> {
        let layout = Layout::array::<T>(count.max(1)).and_then(|layout| layout.align_to(64)).expect("a table of code");
        // SAFETY: the layout has a size.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start.cast()) else { handle_alloc_error(layout) };
        Lazy { start, count, layout }
    }

    /// The first element, for who reads and writes through pointers.
    pub fn pointer(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// All of them.
    pub fn elements(&mut self) -> &mut [T] {
        // SAFETY: `new` allocated so many, whose bytes were values of `T` and are; nobody else uses them meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

impl<T> Drop for Lazy<T> {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) };
    }
}
