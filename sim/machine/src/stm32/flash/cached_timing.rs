//! Flash interfaces whose timing can be cached: see [`rtoslab_cpu::v7m::timing_cache`].

use super::super::flash_port::FlashPort;
use super::lookups::{Lookups, Recorder};
use super::lru;
use super::{FlashF1, FlashF4};
use rtoslab_cpu::v7m::timing_cache::{Distances, Home, Repeating, Repeats, cycle_at};
use std::mem::offset_of;

/// A flash interface whose timing can be cached.
pub trait CacheableFlash: FlashPort {
    /// The state that future fetches depend on, without caches. Times as distances.
    type State: Copy + Eq + std::hash::Hash;
    /// The lookups of fetches in caches.
    type Lookups: Copy + Default;

    /// The state at time `t`.
    fn state(&self, t: u64) -> Option<Self::State>;
    /// Takes a state up at time `t`.
    fn resume(&mut self, state: &Self::State, t: u64);
    /// How a data read at an address answers, if by a fixed rule.
    fn quick_read(&mut self, address: u32) -> Option<Home>;
    /// Bytes of a line and sets of the cache, whose lines [`CacheableFlash::quick_read`] only checks for presence.
    const CONSTANTS: Option<(u32, u32)> = None;
    /// The address of the table of the last lines hit.
    fn lines_hit(&self) -> u64 {
        0
    }
    /// Fetches from this memory go through a cache of the core.
    fn fetches_cached(&self) -> bool {
        false
    }
    /// Records lookups from now on.
    fn record(&mut self);
    /// Takes the recorded lookups. `None` if they cannot be repeated.
    fn recorded(&mut self) -> Option<Self::Lookups>;
    /// Looks the same things up again. True if the answers were the same, else nothing was changed.
    fn repeat(&mut self, lookups: &mut Self::Lookups) -> bool;
    /// How code does that.
    const REPEATS: Repeats;
    /// Returns the repeated lookups.
    fn repeating(&mut self) -> Repeating;
}

/// The state of the F1's interface: lines by number, times as distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateF1 {
    line: u32,
    there: i16,
    next: u32,
    next_there: i16,
    last_there: i16,
    array_free: i16,
}

impl CacheableFlash for FlashF1 {
    type State = StateF1;
    type Lookups = ();

    fn state(&self, t: u64) -> Option<StateF1> {
        let distances = Distances::from(t);
        distances.all_in(StateF1 {
            line: self.line,
            there: distances.of(self.there),
            next: self.next,
            next_there: distances.of(self.next_there),
            last_there: distances.of(self.last_there),
            array_free: distances.of(self.array.free()),
        })
    }

    fn resume(&mut self, state: &StateF1, t: u64) {
        (self.line, self.there) = (state.line, cycle_at(state.there, t));
        (self.next, self.next_there) = (state.next, cycle_at(state.next_there, t));
        self.last_there = cycle_at(state.last_there, t);
        self.array.set_free(cycle_at(state.array_free, t));
    }

    /// Every read is one of the array.
    #[inline(always)]
    fn quick_read(&mut self, _: u32) -> Option<Home> {
        Some(Home::Waiting)
    }

    fn record(&mut self) {}

    fn recorded(&mut self) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn repeat(&mut self, (): &mut ()) -> bool {
        true
    }

    const REPEATS: Repeats = Repeats::Nothing;

    #[inline(always)]
    fn repeating(&mut self) -> Repeating {
        Repeating::default()
    }
}

/// The state of the accelerator besides its caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateF4 {
    line: u32,
    there: i16,
    next: u32,
    next_there: i16,
    left: u32,
    data_line: u32,
    data_there: i16,
    array_free: i16,
}

impl CacheableFlash for FlashF4 {
    type State = StateF4;
    type Lookups = Lookups;

    fn state(&self, t: u64) -> Option<StateF4> {
        let distances = Distances::from(t);
        distances.all_in(StateF4 {
            line: self.line,
            there: distances.of(self.there),
            next: self.next,
            next_there: distances.of(self.next_there),
            left: self.left,
            data_line: self.data_line,
            data_there: distances.of(self.data_there),
            array_free: distances.of(self.array.free()),
        })
    }

    fn resume(&mut self, state: &StateF4, t: u64) {
        (self.line, self.there) = (state.line, cycle_at(state.there, t));
        (self.next, self.next_there) = (state.next, cycle_at(state.next_there, t));
        self.left = state.left;
        (self.data_line, self.data_there) = (state.data_line, cycle_at(state.data_there, t));
        self.array.set_free(cycle_at(state.array_free, t));
    }

    #[inline(always)]
    fn quick_read(&mut self, address: u32) -> Option<Home> {
        let line = self.number(address);
        (self.control.data_cache && self.data.hit(line)).then_some(Home::Cached)
    }

    fn record(&mut self) {
        self.recorder = Recorder { on: true, ..Recorder::default() };
    }

    fn recorded(&mut self) -> Option<Lookups> {
        self.recorder.on = false;
        (!self.recorder.too_many).then_some(self.recorder.lookups)
    }

    #[inline(always)]
    fn repeat(&mut self, lookups: &mut Lookups) -> bool {
        lookups.repeat(&mut self.instructions)
    }

    const REPEATS: Repeats = lru::touch(offset_of!(Lookups, same_in), offset_of!(Lookups, used));

    #[inline(always)]
    fn repeating(&mut self) -> Repeating {
        self.instructions.repeating()
    }
}
