//! The registry of translations: where hot paths begin, how often each was executed, and its native code.
//!
//! Each engine has a registry. A place is where a path begins: the number that an engine gives an op. The table of
//! *heads* is direct-mapped by place. A path that was executed often is translated, and a translation stays until all
//! are forgotten.

use super::Store;
use crate::timing_store::Counts;

/// log2 of the heads.
pub const HEADS: u32 = 12;
/// Most translations. Each takes some hundred bytes of the host's memory.
const MOST: usize = 2048;
/// Most paths from one place.
const PATHS: u32 = 4;

/// The entry of a place in the registry of native code: all paths that begin there. A path is the instructions of one
/// trace.
pub trait Head: Copy {
    /// From one place to the next.
    const UNIT: usize;
    /// No path.
    const NONE: Self;

    /// Creates the entry of a place from which nothing was executed yet.
    fn new_at(place: u64) -> Self;

    /// Returns the place at which this entry's paths begin.
    fn path_start(&self) -> u64;

    /// Returns whether native code executes a path from this entry's place.
    fn is_translated(&self) -> bool;

    /// Returns the counter of the interpreter's executions of paths from this entry's place.
    fn execution_counter(&mut self) -> &mut PathExecutionCounter;
}

/// A counter of how often the interpreter has executed paths from one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct PathExecutionCounter(u32);

impl PathExecutionCounter {
    /// None.
    pub const NONE: PathExecutionCounter = PathExecutionCounter(0);
    /// The path is not to be translated.
    pub const EXCLUDED: PathExecutionCounter = PathExecutionCounter(u32::MAX);

    /// Counts one execution of a path. Returns true if the path is hot now: it is JIT-compiled after `hot_after`
    /// executions, or never if that is 0.
    #[inline(always)]
    pub fn count_execution(&mut self, hot_after: u32) -> bool {
        if *self == PathExecutionCounter::EXCLUDED {
            return false;
        }
        self.0 += 1;
        hot_after != 0 && self.0 >= hot_after
    }
}

/// The registry of an engine's JIT-compiled code: the table entries `H` of places and the translations `T`.
#[derive(Debug)]
pub struct NativeCodeRegistry<H, T> {
    heads: Box<[H; 1 << HEADS]>,
    has_heads: bool,
    all: Vec<T>,
    /// The code of the translations.
    pub store: Store,
    /// Executions before a path is translated. 0: none is.
    hot_after: u32,
    translations: u64,
    /// How many traces or basic blocks native code has executed.
    pub executed: u64,
}

impl<H: Head, T> NativeCodeRegistry<H, T> {
    /// Creates an empty registry. Paths are JIT-compiled after `hot_after` executions.
    pub fn new(hot_after: u32) -> NativeCodeRegistry<H, T> {
        // Never on the stack.
        let heads = vec![H::NONE; 1 << HEADS].into_boxed_slice().try_into();
        let Ok(heads) = heads else { unreachable!("as long as the array") };
        let store = Store::default();
        NativeCodeRegistry { heads, has_heads: false, all: Vec::new(), store, hot_after, translations: 0, executed: 0 }
    }

    /// Forgets all translations and counts, because instructions or probes changed. Returns true if there were
    /// translations.
    pub fn forget_all_translations(&mut self) -> bool {
        if std::mem::take(&mut self.has_heads) {
            self.heads.fill(H::NONE);
        }
        let had_translations = !self.all.is_empty();
        if had_translations {
            self.all.clear();
            self.store = Store::default();
        }
        had_translations
    }

    /// Sets after how many executions paths are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.forget_all_translations();
        self.hot_after = executions;
    }

    /// Returns whether paths are JIT-compiled at all.
    pub fn is_jit_compilation_enabled(&self) -> bool {
        self.hot_after != 0
    }

    /// Returns how many translations were made so far, and how many traces or blocks they executed.
    pub fn native_code_counts(&self) -> Counts {
        Counts { translated: self.executed, translations: self.translations, ..Counts::default() }
    }

    /// Returns the index of a place's entry in the direct-mapped table.
    #[inline(always)]
    fn registry_slot_index(place: u64) -> usize {
        (place as usize / H::UNIT) % (1 << HEADS)
    }

    /// Returns the entry of this place, if the table has one.
    #[inline(always)]
    pub fn native_code_entry_of_op(&self, place: u64) -> Option<&H> {
        let head = &self.heads[NativeCodeRegistry::<H, T>::registry_slot_index(place)];
        (head.path_start() == place).then_some(head)
    }

    /// Returns the entry of this place, which replaces the entry of any other place in its slot.
    pub fn claim_native_code_entry_of_op(&mut self, place: u64) -> &mut H {
        let head = &mut self.heads[NativeCodeRegistry::<H, T>::registry_slot_index(place)];
        self.has_heads = true;
        if head.path_start() != place {
            *head = H::new_at(place);
        }
        head
    }

    /// Counts an execution of a path from this place by the interpreter. Returns true if the path is hot. A place whose
    /// paths are translated stays, and no other one in its slot is counted.
    #[inline(always)]
    pub fn count_execution(&mut self, place: u64) -> bool {
        let head = &mut self.heads[NativeCodeRegistry::<H, T>::registry_slot_index(place)];
        if head.is_translated() {
            return false;
        }
        if head.path_start() != place {
            *head = H::new_at(place);
            self.has_heads = true;
        }
        head.execution_counter().count_execution(self.hot_after)
    }

    /// Returns whether the registry has room for one more translation.
    pub fn has_room_for_translation(&self) -> bool {
        self.all.len() < MOST
    }

    /// Adds a translation to the registry and returns its number.
    pub fn add_translation(&mut self, translation: T) -> u32 {
        self.translations += 1;
        self.all.push(translation);
        self.all.len() as u32 - 1
    }

    /// Returns the host address of the registry's table of entries.
    pub fn registry_table_address(&self) -> *const H {
        self.heads.as_ptr()
    }
}

/// What follows at a place, or where execution deviates from a path: native code, or the interpreter with its count.
#[derive(Debug, Clone, Copy)]
enum Way {
    Interpreted(PathExecutionCounter),
    /// The translation of this number.
    Translated(u32),
}

impl Way {
    const NONE: Way = Way::Interpreted(PathExecutionCounter::NONE);
}

/// The table entry of a place whose paths are JIT-compiled one by one.
#[derive(Debug, Clone, Copy)]
pub struct CompiledPathsEntry<const UNIT: usize> {
    place: u64,
    way: Way,
}

impl<const UNIT: usize> Head for CompiledPathsEntry<UNIT> {
    const UNIT: usize = UNIT;
    /// No place is odd.
    const NONE: CompiledPathsEntry<UNIT> = CompiledPathsEntry { place: 1, way: Way::NONE };

    /// Creates the entry of a place from which nothing was executed yet.
    fn new_at(place: u64) -> CompiledPathsEntry<UNIT> {
        CompiledPathsEntry { place, way: Way::NONE }
    }

    /// Returns the place at which this entry's paths begin.
    #[inline(always)]
    fn path_start(&self) -> u64 {
        self.place
    }

    /// Returns whether native code executes a path from this entry's place.
    #[inline(always)]
    fn is_translated(&self) -> bool {
        matches!(self.way, Way::Translated(_))
    }

    /// Returns the counter of the interpreter's executions of paths from this entry's place.
    #[inline(always)]
    fn execution_counter(&mut self) -> &mut PathExecutionCounter {
        match &mut self.way {
            Way::Interpreted(executions) => executions,
            Way::Translated(_) => unreachable!("asked of interpreted paths alone"),
        }
    }
}

/// One JIT-compiled path from a place.
#[derive(Debug)]
struct Path<T> {
    translation: T,
    /// The way of executions that deviate at its first instruction.
    otherwise: Way,
    /// Paths from the same place that were there before.
    earlier: u32,
}

/// A registry of JIT-compiled paths that are tried one after the other.
#[derive(Debug)]
pub struct Paths<T, const UNIT: usize> {
    registry: NativeCodeRegistry<CompiledPathsEntry<UNIT>, Path<T>>,
    /// The last of the paths from where the current trace began, if none of them was its own.
    missed: Option<u32>,
}

impl<T, const UNIT: usize> Paths<T, UNIT> {
    /// Creates an empty registry. A path is JIT-compiled after `hot_after` executions.
    pub fn new(hot_after: u32) -> Paths<T, UNIT> {
        Paths { registry: NativeCodeRegistry::new(hot_after), missed: None }
    }

    /// Forgets all paths and counts. Returns true if there were translations.
    pub fn forget_all_translations(&mut self) -> bool {
        self.missed = None;
        self.registry.forget_all_translations()
    }

    /// Sets after how many executions paths are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.missed = None;
        self.registry.set_translation_threshold(executions);
    }

    /// Returns how many paths were JIT-compiled so far, and how many traces they executed.
    pub fn native_code_counts(&self) -> Counts {
        self.registry.native_code_counts()
    }

    /// Returns the memory that contains the native code.
    pub fn native_code_memory(&mut self) -> &mut Store {
        &mut self.registry.store
    }

    /// Adds to the number of traces that native code has executed.
    #[inline(always)]
    pub fn count_native_traces(&mut self, traces: u64) {
        self.registry.executed += traces;
    }

    /// Begins a trace at this place, and returns the number of the first JIT-compiled path from there.
    #[inline(always)]
    pub fn begin_trace(&mut self, place: u64) -> Option<u32> {
        self.missed = None;
        self.number_of_first_compiled_path(place)
    }

    /// Returns the number of the first JIT-compiled path from this place.
    #[inline(always)]
    pub fn number_of_first_compiled_path(&self, place: u64) -> Option<u32> {
        match self.registry.native_code_entry_of_op(place) {
            Some(&CompiledPathsEntry { way: Way::Translated(number), .. }) => Some(number),
            _ => None,
        }
    }

    /// Returns the number of the path to try next, after execution deviated from this one at its first instruction.
    pub fn next_alternative_code_path(&mut self, number: u32) -> Option<u32> {
        match self.registry.all[number as usize].otherwise {
            Way::Translated(next) => Some(next),
            Way::Interpreted(_) => {
                self.missed = Some(number);
                None
            }
        }
    }

    /// Notes that execution deviated, at the first instruction, from this path and from all that were tried before it.
    pub fn record_compiled_path_mismatch(&mut self, number: u32) {
        self.missed = Some(number);
    }

    /// Returns the last path that was tried for the current trace, if none matched.
    pub fn last_mismatching_compiled_path(&mut self) -> Option<&mut T> {
        self.missed.map(|number| &mut self.registry.all[number as usize].translation)
    }

    /// Returns whether the current trace, which began at this place and was executed by the interpreter, is to be
    /// JIT-compiled now.
    #[inline(always)]
    pub fn is_compilation_due(&mut self, place: u64) -> bool {
        match self.missed {
            None => self.registry.count_execution(place),
            Some(number) => match &mut self.registry.all[number as usize].otherwise {
                Way::Interpreted(executions) => executions.count_execution(self.registry.hot_after),
                Way::Translated(_) => false,
            },
        }
    }

    /// Returns the number that the next path from the current trace's place would get. `None` if the registry is full,
    /// or that place has enough paths.
    pub fn next_path_number(&self) -> Option<u32> {
        let is_last = self.missed.is_some_and(|number| self.registry.all[number as usize].earlier + 1 == PATHS);
        (!is_last && self.registry.has_room_for_translation()).then_some(self.registry.all.len() as u32)
    }

    /// Adds the translation of the current trace, which began at this place.
    pub fn add_translation(&mut self, place: u64, translation: T) {
        let earlier = self.missed.map_or(0, |number| self.registry.all[number as usize].earlier + 1);
        let number = self.registry.add_translation(Path { translation, otherwise: Way::NONE, earlier });
        self.set_fallback_after_path_mismatch(place, Way::Translated(number));
    }

    /// Excludes the current trace, which began at this place, from JIT compilation for good.
    pub fn exclude_trace_from_compilation(&mut self, place: u64) {
        self.set_fallback_after_path_mismatch(place, Way::Interpreted(PathExecutionCounter::EXCLUDED));
    }

    /// Sets what follows after the current trace has deviated from all paths of this place.
    fn set_fallback_after_path_mismatch(&mut self, place: u64, way: Way) {
        match self.missed {
            Some(number) => self.registry.all[number as usize].otherwise = way,
            None => self.registry.claim_native_code_entry_of_op(place).way = way,
        }
    }

    /// Returns the translation with this number.
    #[inline(always)]
    pub fn path_with_number(&self, number: u32) -> &T {
        &self.registry.all[number as usize].translation
    }

    /// Returns the translation with this number, to be changed.
    #[inline(always)]
    pub fn path_with_number_mut(&mut self, number: u32) -> &mut T {
        &mut self.registry.all[number as usize].translation
    }

    /// Returns all translations, to be changed.
    pub fn all_compiled_paths_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.registry.all.iter_mut().map(|path| &mut path.translation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ELSEWHERE: u64 = 0x100 + (2 << HEADS);

    fn executed(paths: &mut Paths<char, 2>, place: u64, times: usize) -> Vec<bool> {
        (0..times).map(|_| paths.is_compilation_due(place)).collect()
    }

    #[test]
    fn path_is_compiled_after_its_threshold_of_executions() {
        let mut paths = Paths::<char, 2>::new(3);
        assert_eq!(paths.begin_trace(0x100), None);
        assert_eq!(executed(&mut paths, 0x100, 3), [false, false, true]);
        assert_eq!(paths.next_path_number(), Some(0));
        paths.add_translation(0x100, 'a');
        assert_eq!((paths.begin_trace(0x100), *paths.path_with_number(0)), (Some(0), 'a'));
        assert_eq!((paths.begin_trace(0x102), paths.begin_trace(ELSEWHERE)), (None, None));
        assert_eq!(executed(&mut paths, ELSEWHERE, 4), [false; 4], "another place has the slot");
        assert_eq!(paths.native_code_counts().translations, 1);
        assert!(paths.forget_all_translations());
        assert_eq!((paths.begin_trace(0x100), paths.forget_all_translations()), (None, false));
    }

    #[test]
    fn an_executed_path_takes_the_slot_of_an_uncompiled_one() {
        let mut paths = Paths::<char, 2>::new(2);
        assert_eq!(executed(&mut paths, 0x100, 1), [false]);
        assert_eq!(executed(&mut paths, ELSEWHERE, 1), [false]);
        assert_eq!(executed(&mut paths, 0x100, 2), [false, true]);
    }

    #[test]
    fn paths_from_one_address_are_compiled_up_to_a_limit() {
        let mut paths = Paths::<char, 2>::new(1);
        for (number, name) in (0..PATHS).zip('a'..) {
            assert!(
                paths.begin_trace(0x100).is_none() == (number == 0) && paths.last_mismatching_compiled_path().is_none()
            );
            for earlier in 0..number {
                assert_eq!(paths.next_alternative_code_path(earlier), (earlier + 1 < number).then_some(earlier + 1));
            }
            assert!(paths.is_compilation_due(0x100));
            assert_eq!(paths.next_path_number(), Some(number));
            paths.add_translation(0x100, name);
        }
        paths.record_compiled_path_mismatch(PATHS - 1);
        assert_eq!((paths.next_path_number(), paths.last_mismatching_compiled_path().copied()), (None, Some('d')));
        paths.exclude_trace_from_compilation(0x100);
        assert!(!paths.is_compilation_due(0x100));
        assert_eq!(paths.begin_trace(0x100), Some(0), "the others stay");
    }

    #[test]
    fn an_excluded_or_disabled_path_is_never_compiled() {
        let mut paths = Paths::<char, 2>::new(2);
        paths.exclude_trace_from_compilation(0x100);
        assert_eq!(executed(&mut paths, 0x100, 3), [false; 3]);
        paths.set_translation_threshold(0);
        assert_eq!(executed(&mut paths, 0x100, 3), [false; 3]);
    }
}
