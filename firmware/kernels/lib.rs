//! Empty on purpose: this package exists for its dependency list and its lock, and is never compiled.
