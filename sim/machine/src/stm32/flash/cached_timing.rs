//! Flash interfaces whose timing can be cached: see [`rtoslab_cpu::v7m::timing_cache`].

use super::super::flash_port::FlashPort;
use super::lookups::{Lookups, Recorder};
use super::lru;
use super::{FlashF1, FlashF4};
use rtoslab_cpu::v7m::timing_cache::{
    CacheLookupReplayData, CycleDistanceConverter, Home, Repeats, cycle_at_distance_from_now,
};
use std::mem::offset_of;

/// A flash interface whose timing can be cached: its state and its look-ups are part of what the timing cache stores.
pub trait CacheableFlash: FlashPort {
    /// The state on which the timing of future fetches depends, without caches. Times are relative to now.
    type State: Copy + Eq + std::hash::Hash;
    /// The look-ups of a trace's fetches in the interface's caches, with their answers.
    type Lookups: Copy + Default;

    /// Returns the interface's state at cycle `t`, for a node of the timing cache. `None` if it cannot be cached.
    fn timing_state(&self, t: u64) -> Option<Self::State>;
    /// Sets the interface to a cached state at cycle `t`.
    fn restore_timing_state(&mut self, state: &Self::State, t: u64);
    /// Returns which memory answers a data read at an address, if its wait states follow a fixed rule. Otherwise
    /// `None`.
    fn data_read_source(&mut self, address: u32) -> Option<Home>;
    /// Bytes of a line and sets of the cache, whose lines [`CacheableFlash::data_read_source`] only checks for
    /// presence.
    const CONSTANTS: Option<(u32, u32)> = None;
    /// Returns the host address of the table of the cache lines that were hit last, for native code. 0 without a cache.
    fn hit_line_table_address(&self) -> u64 {
        0
    }
    /// Returns whether fetches from the flash go through a cache of the core.
    fn are_fetches_cached(&self) -> bool {
        false
    }
    /// Begins to record the cache look-ups of fetches.
    fn record_lookups(&mut self);
    /// Ends the recording and returns the look-ups. `None` if they cannot be repeated.
    fn take_recorded_lookups(&mut self) -> Option<Self::Lookups>;
    /// Repeats recorded cache look-ups. Returns true if the answers are the same as before. If not, nothing is changed.
    fn repeat_lookups(&mut self, lookups: &mut Self::Lookups) -> bool;
    /// The way in which native code repeats cache look-ups.
    const REPEATS: Repeats;
    /// Returns what native code needs to repeat cache look-ups by itself.
    fn native_lookup_data(&mut self) -> CacheLookupReplayData;
}

/// The cached state of the F1's flash interface: lines by number, times as distances from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlashTimingStateF1 {
    line: u32,
    there: i16,
    next: u32,
    next_there: i16,
    last_there: i16,
    followed: bool,
    array_free: i16,
}

impl CacheableFlash for FlashF1 {
    /// The state on which the timing of future fetches depends, without caches. Times are relative to now.
    type State = FlashTimingStateF1;
    /// The look-ups of a trace's fetches in the interface's caches, with their answers.
    type Lookups = ();

    /// Returns the interface's state at cycle `t`, for a node of the timing cache. `None` if it cannot be cached.
    fn timing_state(&self, t: u64) -> Option<FlashTimingStateF1> {
        let distances = CycleDistanceConverter::from(t);
        distances.timing_state_if_distances_fit(FlashTimingStateF1 {
            line: self.line,
            there: distances.cycle_distance(self.there),
            next: self.next,
            next_there: distances.cycle_distance(self.next_there),
            last_there: distances.cycle_distance(self.last_there),
            followed: self.followed,
            array_free: distances.cycle_distance(self.array.next_flash_read_cycle()),
        })
    }

    /// Sets the interface to a cached state at cycle `t`.
    fn restore_timing_state(&mut self, state: &FlashTimingStateF1, t: u64) {
        (self.line, self.there) = (state.line, cycle_at_distance_from_now(state.there, t));
        (self.next, self.next_there) = (state.next, cycle_at_distance_from_now(state.next_there, t));
        self.last_there = cycle_at_distance_from_now(state.last_there, t);
        self.followed = state.followed;
        self.array.set_next_flash_read_cycle(cycle_at_distance_from_now(state.array_free, t));
    }

    /// Returns [`Home::Waiting`]: every data read reads the array.
    #[inline(always)]
    fn data_read_source(&mut self, _: u32) -> Option<Home> {
        Some(Home::Waiting)
    }

    /// Does nothing: the interface of the F1 has no caches.
    fn record_lookups(&mut self) {}

    /// Returns `()`, the look-ups of an interface without caches.
    fn take_recorded_lookups(&mut self) -> Option<()> {
        Some(())
    }

    /// Returns true: without caches there is nothing to repeat.
    #[inline(always)]
    fn repeat_lookups(&mut self, (): &mut ()) -> bool {
        true
    }

    const REPEATS: Repeats = Repeats::Nothing;

    /// Returns what native code needs to repeat cache look-ups by itself.
    #[inline(always)]
    fn native_lookup_data(&mut self) -> CacheLookupReplayData {
        CacheLookupReplayData::default()
    }
}

/// The cached state of the F4's flash interface, without its caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlashTimingStateF4 {
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
    /// The state on which the timing of future fetches depends, without caches. Times are relative to now.
    type State = FlashTimingStateF4;
    /// The look-ups of a trace's fetches in the interface's caches, with their answers.
    type Lookups = Lookups;

    /// Returns the interface's state at cycle `t`, for a node of the timing cache. `None` if it cannot be cached.
    fn timing_state(&self, t: u64) -> Option<FlashTimingStateF4> {
        let distances = CycleDistanceConverter::from(t);
        distances.timing_state_if_distances_fit(FlashTimingStateF4 {
            line: self.line,
            there: distances.cycle_distance(self.there),
            next: self.next,
            next_there: distances.cycle_distance(self.next_there),
            left: self.left,
            data_line: self.data_line,
            data_there: distances.cycle_distance(self.data_there),
            array_free: distances.cycle_distance(self.array.next_flash_read_cycle()),
        })
    }

    /// Sets the interface to a cached state at cycle `t`.
    fn restore_timing_state(&mut self, state: &FlashTimingStateF4, t: u64) {
        (self.line, self.there) = (state.line, cycle_at_distance_from_now(state.there, t));
        (self.next, self.next_there) = (state.next, cycle_at_distance_from_now(state.next_there, t));
        self.left = state.left;
        (self.data_line, self.data_there) = (state.data_line, cycle_at_distance_from_now(state.data_there, t));
        self.array.set_next_flash_read_cycle(cycle_at_distance_from_now(state.array_free, t));
    }

    /// Returns which memory answers a data read at an address, if its wait states follow a fixed rule. Otherwise
    /// `None`.
    #[inline(always)]
    fn data_read_source(&mut self, address: u32) -> Option<Home> {
        let line = self.flash_line_number_of_address(address);
        (self.control.data_cache && self.data.look_up_cache_line(line)).then_some(Home::Cached)
    }

    /// Begins to record the cache look-ups of fetches.
    fn record_lookups(&mut self) {
        self.recorder = Recorder { on: true, ..Recorder::default() };
    }

    /// Ends the recording and returns the look-ups. `None` if they cannot be repeated.
    fn take_recorded_lookups(&mut self) -> Option<Lookups> {
        self.recorder.on = false;
        (!self.recorder.too_many).then_some(self.recorder.lookups)
    }

    /// Repeats recorded cache look-ups. Returns true if the answers are the same as before. If not, nothing is changed.
    #[inline(always)]
    fn repeat_lookups(&mut self, lookups: &mut Lookups) -> bool {
        lookups.repeat_lookups(&mut self.instructions)
    }

    const REPEATS: Repeats = lru::native_lookup_repetition(offset_of!(Lookups, same_in), offset_of!(Lookups, used));

    /// Returns what native code needs to repeat cache look-ups by itself.
    #[inline(always)]
    fn native_lookup_data(&mut self) -> CacheLookupReplayData {
        self.instructions.cache_lookup_replay_data()
    }
}
