//! A board as it stood: kept, and put back into the same board or into another one of its kind.
//!
//! A snapshot holds what decides what the board does next (cores, pipeline, memories, peripherals, consoles, stimuli
//! still to come) and what its instruments had recorded. It holds neither where probes sit nor profile counts: these
//! are the observer's and stay as they are. Decoded instructions and cached timing follow from the rest and stay too,
//! as far as they still hold. Content of flash is shared.

use std::any::Any;
use std::sync::Arc;

use rtoslab_cpu::v6m::block::UntimedBlockRemainder;
use rtoslab_cpu::v6m::trace::Trace;
use rtoslab_cpu::{v6m, v7m};

/// The state of a board at some cycle. Cloning shares it.
#[derive(Clone)]
pub struct Snapshot {
    state: Arc<dyn Any + Send + Sync>,
    cycle: u64,
}

impl Snapshot {
    /// Creates a snapshot of a machine's state, taken in this cycle.
    pub(crate) fn new(cycle: u64, state: impl Any + Send + Sync) -> Snapshot {
        Snapshot { state: Arc::new(state), cycle }
    }

    /// Returns the machine's state, if the snapshot is of this kind of machine.
    pub(crate) fn machine_state<S: Any>(&self) -> Option<&S> {
        self.state.downcast_ref()
    }

    /// Returns the cycle in which the snapshot was taken.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// A saved core in a snapshot, without pointers into its machine.
pub(crate) struct PointerFreeSavedCore<C> {
    core: C,
    /// Base of the region that the next instruction is in, and the offset of its op in bytes. `None` before a start.
    at: Option<(u32, usize)>,
}

// SAFETY: `of`, which alone makes one, leaves only null pointers in the core, and nothing follows them here. Likewise
// below.
unsafe impl Send for PointerFreeSavedCore<v6m::core::Core> {}
// SAFETY: as above.
unsafe impl Sync for PointerFreeSavedCore<v6m::core::Core> {}
// SAFETY: as above.
unsafe impl Send for PointerFreeSavedCore<v7m::core::Core> {}
// SAFETY: as above.
unsafe impl Sync for PointerFreeSavedCore<v7m::core::Core> {}

impl PointerFreeSavedCore<v7m::core::Core> {
    /// Saves a copy of a core for a snapshot.
    pub fn from_core(core: &v7m::core::Core) -> PointerFreeSavedCore<v7m::core::Core> {
        let at = (!core.ip.is_null()).then(|| (core.region.base, core.ip as usize - core.region.ops as usize));
        let mut core = core.clone();
        core.ip = std::ptr::null_mut();
        core.region.ops = std::ptr::null_mut();
        core.region.profile = std::ptr::null_mut();
        PointerFreeSavedCore { core, at }
    }

    /// Returns the saved core with pointers into its machine again. `region` finds the region of an address in the
    /// machine that it is for.
    pub fn restore_core(&self, mut region: impl FnMut(u32) -> Option<v7m::core::Region>) -> v7m::core::Core {
        let mut core = self.core.clone();
        if let Some((base, offset)) = self.at {
            // With an MPU the core's region is the part of a memory in which execution is allowed.
            let whole = region(base).expect("a snapshot's code is in a memory of its chip");
            let skipped = (base - whole.base) as usize / 2;
            core.region.ops = whole.ops.wrapping_add(skipped);
            core.region.profile =
                if whole.profile.is_null() { whole.profile } else { whole.profile.wrapping_add(skipped) };
            core.ip = core.region.ops.wrapping_byte_add(offset);
        }
        core
    }
}

impl PointerFreeSavedCore<v6m::core::Core> {
    /// Saves a copy of a core for a snapshot.
    pub fn from_core(core: &v6m::core::Core) -> PointerFreeSavedCore<v6m::core::Core> {
        let at = (!core.ip.is_null()).then(|| (core.region.base, core.ip as usize - core.region.ops as usize));
        let mut core = core.clone();
        core.ip = std::ptr::null_mut();
        core.region.ops = std::ptr::null_mut();
        core.region.profile = [std::ptr::null_mut(); 2];
        (core.trace, core.remainder) = (Trace::default(), UntimedBlockRemainder::NONE);
        PointerFreeSavedCore { core, at }
    }

    /// Restores the saved core, with pointers into its machine again, into `core`. `region` finds the region of an
    /// address in the machine that it is for.
    pub fn restore_core(&self, core: &mut v6m::core::Core, mut region: impl FnMut(u32) -> Option<v6m::region::Region>) {
        core.clone_from(&self.core);
        if let Some((base, offset)) = self.at {
            core.region = if self.core.region.has_no_code() {
                v6m::region::Region::new_code_region_without_code(base)
            } else {
                region(base).expect("a snapshot's code is in a memory of its chip")
            };
            core.ip = core.region.ops.wrapping_byte_add(offset);
        }
    }
}

/// Returns the pages of `1 << shift` bytes whose mark has `bit` and whose contents differ, as offset and length.
pub(crate) fn pages_changed_since_snapshot<'a>(
    now: &'a [u8],
    then: &'a [u8],
    marks: &'a [u8],
    bit: u8,
    shift: u32,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let pages = now.chunks(1 << shift).zip(then.chunks(1 << shift)).zip(marks).enumerate();
    pages
        .filter(move |(_, ((now, then), mark))| *mark & bit != 0 && now != then)
        .map(move |(page, ((now, _), _))| ((page << shift) as u32, now.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_stores_only_changed_pages() {
        let then = [0; 20];
        let mut now = then;
        (now[1], now[9], now[17]) = (1, 1, 1);
        let pages: Vec<_> = pages_changed_since_snapshot(&now, &then, &[1, 1, 2, 1, 3], 1, 2).collect();
        assert_eq!(pages, [(0, 4), (16, 4)]);
    }

    #[test]
    fn snapshot_fits_only_its_machine() {
        let snapshot = Snapshot::new(7, 5_u32);
        assert_eq!(
            (snapshot.cycle(), snapshot.machine_state::<u32>(), snapshot.machine_state::<u64>()),
            (7, Some(&5), None)
        );
    }
}
