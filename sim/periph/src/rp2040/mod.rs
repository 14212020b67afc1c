//! RP2040 blocks.
