//! Cycles as distances from now, as states hold them.

use std::cell::Cell;

/// A distance that is as good as any longer one: whatever waits for an event has waited a shorter time.
const ANCIENT: i64 = -100;

/// A cycle that has not come yet and will not come by itself.
pub const OPEN: u64 = u64::MAX / 2;
/// Its distance.
const OPEN_DISTANCE: i16 = i16::MAX;

/// A converter of cycles to distances from one moment, as the states of the timing cache contain them. It notes a
/// distance that does not fit into its type, because such a state must not be cached.
#[derive(Debug)]
pub struct CycleDistanceConverter {
    now: u64,
    fit: Cell<bool>,
}

impl CycleDistanceConverter {
    /// Creates a converter to distances from `now`.
    pub fn from(now: u64) -> CycleDistanceConverter {
        CycleDistanceConverter { now, fit: Cell::new(true) }
    }

    /// Returns the distance of a cycle from the converter's moment. All cycles that are long past have the same
    /// distance.
    #[inline]
    pub fn cycle_distance(&self, cycle: u64) -> i16 {
        match cycle.wrapping_sub(self.now) as i64 {
            far if far >= (OPEN / 2) as i64 => OPEN_DISTANCE,
            // One that would pass for the cycle that does not come, too.
            distance if distance >= OPEN_DISTANCE.into() => self.convert_to_narrower_type(i64::MAX),
            distance => self.convert_to_narrower_type(distance.max(ANCIENT)),
        }
    }

    /// Returns the distance of a cycle that is still to come, or 0 for one in the past.
    #[inline]
    pub fn future_cycle_distance(&self, cycle: u64) -> i16 {
        self.cycle_distance(cycle.max(self.now))
    }

    /// Returns the distance of a cycle in one byte. All distances below `least` count as `least`.
    #[inline]
    pub fn saturate_cycle_distance_to_byte(&self, cycle: u64, least: i64) -> i8 {
        self.convert_to_narrower_type((cycle.wrapping_sub(self.now) as i64).max(least))
    }

    /// Converts a number to a narrower type. If it does not fit, the converter notes that its state cannot be cached.
    #[inline]
    pub fn convert_to_narrower_type<N: TryFrom<i64> + Default>(&self, number: i64) -> N {
        N::try_from(number).unwrap_or_else(|_| {
            self.fit.set(false);
            N::default()
        })
    }

    /// Returns the state that was made of this converter's distances. `None` if one of them did not fit.
    pub fn timing_state_if_distances_fit<S>(&self, state: S) -> Option<S> {
        self.fit.get().then_some(state)
    }
}

/// Returns the cycle at a distance from `now`.
#[inline]
pub fn cycle_at_distance_from_now(distance: i16, now: u64) -> u64 {
    if distance == OPEN_DISTANCE { OPEN } else { now.saturating_add_signed(distance.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance, if it can be cached.
    fn since(cycle: u64, now: u64) -> Option<i16> {
        let distances = CycleDistanceConverter::from(now);
        let distance = distances.cycle_distance(cycle);
        distances.timing_state_if_distances_fit(distance)
    }

    #[test]
    fn near_cycle_distances_are_exact() {
        for cycle in [901, 1000, 1300, 1000 + 0x7ffe, OPEN] {
            assert_eq!(since(cycle, 1000).map(|distance| cycle_at_distance_from_now(distance, 1000)), Some(cycle));
        }
        assert_eq!(since(3, 1000), since(900, 1000));
        assert_eq!(cycle_at_distance_from_now(CycleDistanceConverter::from(20).cycle_distance(0), 20), 0);
        assert_eq!([990, 1010].map(|cycle| CycleDistanceConverter::from(1000).future_cycle_distance(cycle)), [0, 10]);
    }

    #[test]
    fn too_large_distance_is_refused() {
        for far in [0x7fff, 0x8000, 0x1_0000, 0x1_0005, 1 << 40] {
            assert_eq!(since(1000 + far, 1000), None, "{far:#x}");
        }
        for (cycle, least, fits) in [(1127, -50, true), (1128, -50, false), (0, -128, true), (0, -129, false)] {
            let distances = CycleDistanceConverter::from(1000);
            let byte = distances.saturate_cycle_distance_to_byte(cycle, least);
            assert_eq!(distances.timing_state_if_distances_fit(byte).is_some(), fits, "{cycle} {least}");
        }
        let distances = CycleDistanceConverter::from(0);
        let numbers: [i8; 2] = [300, 3].map(|number| distances.convert_to_narrower_type(number));
        assert_eq!(
            distances.timing_state_if_distances_fit(numbers),
            None,
            "one that fits does not make up for one that does not"
        );
    }
}
