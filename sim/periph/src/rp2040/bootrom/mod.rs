//! The modelled boot ROM.
