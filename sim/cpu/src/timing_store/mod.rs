//! The store of cached timings: one for each engine that executes speculatively.
//!
//! A *node* is the state that the timing of the next instructions depends on. Nodes have numbers ([`states`]), so that
//! a transition needs few bits for the node it leads to. A *transition* says how one trace or basic block moved time.
//! It is in a row of the [`table`], whose number is a hash of its key. The [`account`] knows the share of each
//! instruction in each transition: the profile is their product with the number of times that each was taken. The
//! [`backoff`] leaves a cache alone while it costs more than it gains.
//!
//! The user of a store brings what differs: the node, the key and its hash, the transition with the layout that native
//! code reads, and the number of ways of a row.

mod account;
mod backoff;
mod counts;
mod states;
mod table;

pub(crate) use account::{Account, InstructionCycleShare};
pub(crate) use backoff::{MissRate, TimingCacheBackoff};
pub use counts::Counts;
pub(crate) use table::{Row, TimingTable};
