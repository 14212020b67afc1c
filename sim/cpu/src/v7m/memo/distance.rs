//! Cycles as distances from now, as states hold them.

/// A distance that is as good as any longer one: whatever waits for an event has waited a shorter time.
const ANCIENT: i16 = -100;

/// A cycle that has not come yet and will not come by itself.
pub const OPEN: u64 = u64::MAX / 2;
/// Its distance.
const OPEN_DISTANCE: i16 = i16::MAX;

/// The distance of a cycle from `now`.
#[inline]
pub fn since(cycle: u64, now: u64) -> i16 {
    match cycle.wrapping_sub(now) as i64 {
        far if far >= (OPEN / 2) as i64 => OPEN_DISTANCE,
        distance => distance.max(ANCIENT.into()) as i16,
    }
}

/// The cycle at a distance from `now`.
#[inline]
pub fn cycle_at(distance: i16, now: u64) -> u64 {
    if distance == OPEN_DISTANCE { OPEN } else { now.saturating_add_signed(distance.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_cycles_come_back_and_ancient_ones_are_alike() {
        for cycle in [901, 1000, 1300, OPEN] {
            assert_eq!(cycle_at(since(cycle, 1000), 1000), cycle);
        }
        assert_eq!(since(3, 1000), since(900, 1000));
        assert_eq!(cycle_at(since(0, 20), 20), 0);
    }
}
