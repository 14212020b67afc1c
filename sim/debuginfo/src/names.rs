//! Names of C++ and Rust functions as their sources have them.

use std::borrow::Cow;
use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// A readable name has so many bytes at most: a short mangled one can stand for gigabytes.
const LONGEST: usize = 1024;

/// Returns a symbol's name as its C++ or Rust source has it, with the suffix of a compiler's copy (`.constprop.0`). Any
/// other name stays as it is.
pub fn readable_symbol_name(name: &str) -> Cow<'_, str> {
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return Cow::Borrowed(name);
    }
    let (mangled, suffix) = name.split_at(name.find('.').unwrap_or(name.len()));
    let readable = demangle_rust_name(name).or_else(|| demangle_cpp_name(mangled).map(|base| base + suffix));
    readable.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Returns a demangled Rust name. None if the symbol is none.
fn demangle_rust_name(name: &str) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut text = BoundedText(String::new());
    write!(text, "{demangled:#}").ok()?;
    Some(text.0)
}

/// Returns a demangled C++ name. None if the symbol is none.
fn demangle_cpp_name(mangled: &str) -> Option<String> {
    let symbol = Symbol::new(mangled).ok()?;
    let mut text = BoundedText(String::new());
    symbol.structured_demangle(&mut text, &DemangleOptions::new().no_return_type()).ok()?;
    Some(text.0)
}

/// A text writer that fails if the text grows beyond [`LONGEST`].
struct BoundedText(String);

impl Write for BoundedText {
    /// Appends a piece of text. Fails if the text becomes too long.
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.0.len() + piece.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(piece);
        Ok(())
    }
}
