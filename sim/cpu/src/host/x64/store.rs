//! Memory for code. Translations lie close together: a page for each would take the same few lines of the host's cache.

use dynasmrt::AssemblyOffset;
use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};

/// Bytes that are asked of the host at a time.
const CHUNK: usize = 1 << 16;
/// Where functions begin.
const ALIGNMENT: usize = 16;

/// The executable memory for native code, which stays where it is until all of it is freed.
#[derive(Debug, Default)]
pub struct Store {
    chunks: Vec<ExecutableBuffer>,
    /// Bytes used of the last one.
    used: usize,
}

impl Store {
    /// Copies position-independent code into executable memory and returns its address. It is at this place then.
    /// `None` if the host gives no memory for it. The earlier content may be gone.
    pub fn copy_into_executable_memory(&mut self, code: &[u8]) -> Option<*const u8> {
        let mut start = self.used.next_multiple_of(ALIGNMENT);
        if self.chunks.is_empty() || start + code.len() > CHUNK {
            let mut fresh = MutableBuffer::new(CHUNK).ok()?;
            fresh.set_len(CHUNK);
            self.chunks.push(fresh.make_exec().ok()?);
            start = 0;
        }
        let mut chunk = self.chunks.pop()?.make_mut().ok()?;
        chunk.get_mut(start..start + code.len())?.copy_from_slice(code);
        let chunk = chunk.make_exec().ok()?;
        let at = chunk.ptr(AssemblyOffset(start));
        self.chunks.push(chunk);
        self.used = start + code.len();
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov eax, n; ret`.
    fn returning(number: u32) -> Vec<u8> {
        [&[0xb8][..], &number.to_le_bytes(), &[0xc3]].concat()
    }

    #[test]
    fn native_code_keeps_its_address() {
        let mut store = Store::default();
        let functions: Vec<_> =
            (0..5000).map(|number| store.copy_into_executable_memory(&returning(number)).expect("memory")).collect();
        assert!(store.chunks.len() > 1);
        for (number, &at) in (0..).zip(&functions) {
            assert_eq!(at as usize % ALIGNMENT, 0);
            // SAFETY: that is the function's form.
            let function = unsafe { std::mem::transmute::<*const u8, extern "sysv64" fn() -> u32>(at) };
            assert_eq!(function(), number);
        }
        assert_eq!(store.copy_into_executable_memory(&vec![0; CHUNK + 1]), None);
    }
}
