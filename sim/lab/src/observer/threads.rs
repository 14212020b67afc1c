//! Threads of control and the calls in progress on each: a shadow of the real stacks, kept from outside.
//!
//! A thread is known by where it stands: an exception that interrupts it leaves its address and stack pointer, and a
//! return to exactly these resumes it, on whatever core and whatever switched it away. A return to anywhere else begins
//! a thread. No kernel need be known for that.

use std::collections::HashMap;

use rtoslab_cpu::step::Step;

use super::calls::ThreadCallMeasurementState;
use super::functions::Functions;
use super::paths::Paths;

/// Calls in progress beyond which something else than calling continues. The path then begins anew.
const DEEPEST: usize = 1000;

/// A call in progress on a thread's or handler's call path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    /// The address at which the caller continues.
    back: u32,
    /// Stack pointer at the call.
    sp: u32,
    /// Path of the caller.
    node: u32,
}

/// How an instruction changed the call path: a call, a return, a tail call and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Into the function at the end of this path.
    Into(u32),
    /// Out of it.
    Out(u32),
    /// Out of it by a jump that leaves its caller as well.
    Left(u32),
    /// A context's first function continues as another one.
    Onward(u32),
}

/// The call path of a thread, or of a handler in progress.
#[derive(Debug, Clone)]
pub struct Context {
    /// Number of the thread. Handlers have none and share 0.
    pub number: u32,
    /// Path of the function that executes.
    pub node: u32,
    /// Next instruction.
    pub pc: u32,
    /// Stack pointer.
    pub sp: u32,
    /// R0 after its last instruction, and the cycle in which that ended.
    pub last: (u32, u64),
    /// It runs on the process stack.
    pub process_stack: bool,
    /// Calls in progress with what they took so far. Empty unless calls are measured.
    pub activity: ThreadCallMeasurementState,
    root: u32,
    /// Its next instruction is the first of a call, or its very first.
    enters: bool,
    frames: Vec<Frame>,
    /// Functions that continued as another by a tail call and return with it: calls in progress then, and their paths.
    replaced: Vec<(usize, u32)>,
    /// The function that holds `pc`.
    around: (u32, u32),
}

impl Context {
    /// Creates the call path of a thread or handler that begins at `pc`, in the function at the call path's `node`.
    pub fn new(number: u32, node: u32, pc: u32, functions: &Functions) -> Context {
        let around = functions.function_range(pc);
        let (frames, replaced) = (Vec::new(), Vec::new());
        let activity = ThreadCallMeasurementState::default();
        let (sp, last, process_stack) = (0, (0, 0), false);
        Context {
            number,
            node,
            pc,
            sp,
            last,
            process_stack,
            activity,
            root: node,
            enters: true,
            frames,
            replaced,
            around,
        }
    }

    /// Returns the number of calls in progress on the call path.
    pub fn call_depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns whether the instruction that was just completed is the first of a call, or the context's very first.
    pub fn take_entry(&mut self) -> bool {
        std::mem::take(&mut self.enters)
    }

    /// Returns the node of the context's first function.
    pub fn root_call_path_node(&self) -> u32 {
        self.root
    }

    /// Updates the call path by an instruction, and calls `tell` with each change.
    pub fn update_call_path(
        &mut self,
        step: &Step,
        functions: &Functions,
        paths: &mut Paths,
        mut tell: impl FnMut(Move),
    ) {
        // A return that goes to itself: of a recursive call after which nothing but the return is left.
        let again = step.next == step.pc && step.sp > self.sp;
        self.pc = step.next;
        self.sp = step.sp;
        self.last = (step.r0, step.end);
        self.process_stack = step.process_stack;
        if step.call {
            self.add_call_to_call_path(step, functions, paths, &mut tell);
        } else if again || !matches!(step.next.wrapping_sub(step.pc), 0 | 2 | 4) {
            self.update_call_path_by_jump(step, functions, paths, &mut tell);
        }
    }

    /// Updates the call path by a call instruction.
    fn add_call_to_call_path(
        &mut self,
        step: &Step,
        functions: &Functions,
        paths: &mut Paths,
        tell: &mut impl FnMut(Move),
    ) {
        if self.frames.len() == DEEPEST {
            self.unwind_call_path_to_depth(0, true, tell);
        }
        self.frames.push(Frame { back: step.lr & !1, sp: step.sp, node: self.node });
        self.node = paths.child_node(self.node, functions.function_start_of(step.next));
        self.around = functions.function_range(step.next);
        self.enters = true;
        tell(Move::Into(self.node));
    }

    /// Updates the call path by a jump: a return, a tail call, or a jump inside the function.
    fn update_call_path_by_jump(
        &mut self,
        step: &Step,
        functions: &Functions,
        paths: &mut Paths,
        tell: &mut impl FnMut(Move),
    ) {
        let next = step.next;
        if self.frames.last().is_some_and(|frame| frame.back == next && step.sp >= frame.sp) {
            self.unwind_call_path_to_depth(self.frames.len() - 1, false, tell);
            self.around = functions.function_range(next);
            return;
        }
        if (self.around.0..self.around.1).contains(&next) {
            return;
        }
        let entry = functions.function_start_of(next);
        let returns = |frame: &Frame| frame.back == next && step.sp >= frame.sp;
        // Helpers of a switch return to somewhere in their caller. So does a long jump.
        let inside = |frame: &Frame| paths.node_with_number(frame.node).entry == entry && step.sp >= frame.sp;
        if let Some(depth) = self.frames.iter().rposition(returns) {
            self.unwind_call_path_to_depth(depth, false, tell);
        } else if next == entry && functions.does_function_begin_at(next) {
            // A handler stays visible on the path of its continuation.
            let handler = self.frames.is_empty() && paths.node_with_number(self.root).exception != 0;
            let next = if handler {
                paths.child_node(self.root, entry)
            } else {
                paths.call_path_node_of_tail_call(self.node, entry)
            };
            self.replace_function_by_tail_call(next, handler, tell);
        } else if let Some(depth) = self.frames.iter().rposition(inside) {
            // A helper leaves only itself. A long jump leaves every call on its way, and none of them returned.
            let long_jump = self.frames.len() > depth + 1;
            self.unwind_call_path_to_depth(depth, long_jump, tell);
        }
        self.around = functions.function_range(next);
    }

    /// Replaces the current function by the one at `next`, which returns in its place.
    fn replace_function_by_tail_call(&mut self, next: u32, handler: bool, tell: &mut impl FnMut(Move)) {
        let depth = self.frames.len();
        if depth == 0 {
            tell(Move::Onward(self.node));
            self.root = if handler { self.root } else { next };
        } else if let Some(again) = self.replaced.iter().position(|&each| each == (depth, next)) {
            // Functions that take turns like that would never return.
            tell(Move::Out(self.node));
            self.replaced.drain(again..).rev().for_each(|(_, node)| tell(Move::Out(node)));
        } else {
            self.replaced.push((depth, self.node));
        }
        self.node = next;
        self.enters = true;
        tell(Move::Into(next));
    }

    /// Leaves all calls in progress on the call path. A function that the first one has tail-called returns with it.
    pub fn unwind_whole_call_path(&mut self, tell: &mut impl FnMut(Move)) {
        self.unwind_call_path_to_depth(0, true, tell);
        if self.node != self.root {
            tell(Move::Out(self.node));
        }
    }

    /// Leaves all calls of the call path from the one at `depth` on. If they are `cut` off, none of them returns.
    fn unwind_call_path_to_depth(&mut self, depth: usize, cut: bool, tell: &mut impl FnMut(Move)) {
        while self.frames.len() > depth {
            let way = if cut || self.frames.len() > depth + 1 { Move::Left } else { Move::Out };
            tell(way(self.node));
            while self.replaced.last().is_some_and(|frame| frame.0 == self.frames.len()) {
                self.replaced.pop().into_iter().for_each(|(_, node)| tell(way(node)));
            }
            self.node = self.frames.pop().map_or(self.node, |frame| frame.node);
        }
    }
}

/// The threads that no core executes now.
#[derive(Debug, Clone, Default)]
pub struct SuspendedThreadSet {
    suspended: HashMap<u32, Context>,
    /// Threads that are over, with calls in progress.
    over: Vec<Context>,
    count: u32,
}

impl SuspendedThreadSet {
    /// Stores a thread that is interrupted.
    pub fn suspend_thread(&mut self, context: Context) {
        let before = self.suspended.insert(context.sp, context);
        self.end_thread_observation(before);
    }

    /// Removes and returns the suspended thread that continues at `pc` with this stack pointer. `None` if there is
    /// none. A thread that was suspended earlier with the same stack pointer has ended.
    pub fn resume_suspended_thread(&mut self, pc: u32, sp: u32) -> Option<Context> {
        let context = self.suspended.remove(&sp)?;
        if context.pc == pc {
            return Some(context);
        }
        self.end_thread_observation(Some(context));
        None
    }

    /// Removes and returns the suspended thread with this stack pointer, wherever it continues. `None` if there is
    /// none.
    pub fn take_suspended_thread_by_sp(&mut self, sp: u32) -> Option<Context> {
        self.suspended.remove(&sp)
    }

    /// Returns all threads that wait to continue.
    pub fn contexts_of_waiting_threads(&self) -> impl Iterator<Item = &Context> {
        self.suspended.values()
    }

    /// Removes the threads that ended with calls in progress and returns them.
    pub fn take_ended_threads(&mut self) -> Vec<Context> {
        std::mem::take(&mut self.over)
    }

    /// Ends a thread, which will not continue.
    pub fn end_thread_observation(&mut self, context: Option<Context>) {
        self.over.extend(context.filter(|context| !context.activity.has_no_measured_call_in_progress()));
    }

    /// Begins a new thread at `pc`.
    pub fn begin_thread_observation(&mut self, pc: u32, functions: &Functions, paths: &mut Paths) -> Context {
        self.count += 1;
        let node = paths.child_node(super::paths::NONE, functions.function_start_of(pc));
        Context::new(self.count, node, pc, functions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: u32 = 0x100;
    const FIRST: u32 = 0x200;
    const SECOND: u32 = 0x300;

    struct Bench {
        functions: Functions,
        paths: Paths,
        context: Context,
    }

    impl Bench {
        fn new() -> Bench {
            let functions = Functions::new([MAIN, FIRST, SECOND].map(|start| (start, 0x80)));
            let mut paths = Paths::default();
            let context = SuspendedThreadSet::default().begin_thread_observation(MAIN, &functions, &mut paths);
            Bench { functions, paths, context }
        }

        fn follow(&mut self, pc: u32, next: u32, sp: u32, call: bool) -> Vec<Move> {
            let step = Step { pc, next, sp, lr: (pc + 4) | 1, call, ..Step::default() };
            let mut moves = Vec::new();
            self.context.update_call_path(&step, &self.functions, &mut self.paths, |call| moves.push(call));
            moves
        }

        fn finish(&mut self) -> Vec<Move> {
            let mut moves = Vec::new();
            self.context.unwind_whole_call_path(&mut |call| moves.push(call));
            moves
        }

        fn path(&self) -> Vec<u32> {
            let mut entries = Vec::new();
            let mut node = self.context.node;
            while node != super::super::paths::NONE {
                entries.push(self.paths.node_with_number(node).entry);
                node = self.paths.node_with_number(node).parent;
            }
            entries.reverse();
            entries
        }
    }

    #[test]
    fn calls_return_to_their_callers() {
        let mut bench = Bench::new();
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        bench.follow(FIRST + 8, SECOND, 0x0ff0, true);
        assert_eq!(bench.path(), [MAIN, FIRST, SECOND]);
        assert_eq!(bench.follow(SECOND + 4, FIRST + 12, 0x0ff0, false).len(), 1);
        bench.follow(FIRST + 20, MAIN + 12, 0x1000, false);
        assert_eq!(bench.path(), [MAIN]);
    }

    #[test]
    fn tail_call_takes_its_callers_place_and_returns_for_it() {
        let mut bench = Bench::new();
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        assert_eq!(bench.follow(FIRST + 20, SECOND, 0x1000, false).len(), 1);
        assert_eq!(bench.path(), [MAIN, SECOND]);
        let moves = bench.follow(SECOND + 20, MAIN + 12, 0x1000, false);
        assert!(matches!(moves[..], [Move::Out(second), Move::Out(first)] if second != first));
        assert_eq!(bench.path(), [MAIN]);
    }

    #[test]
    fn handler_that_tail_calls_stays_on_the_path() {
        let mut bench = Bench::new();
        let handler = bench.paths.call_path_node_of_handler(15, MAIN);
        bench.context = Context::new(0, handler, MAIN, &bench.functions);
        bench.follow(MAIN + 8, FIRST, 0x1000, false);
        bench.follow(FIRST + 8, SECOND, 0x1000, false);
        assert_eq!(bench.path(), [MAIN, SECOND]);
        assert_eq!(bench.context.root_call_path_node(), handler);
        let second = bench.context.node;
        assert_eq!(bench.finish(), [Move::Out(second)], "the handler's end is its return");
    }

    #[test]
    fn a_handler_without_a_tail_call_ends_with_no_call_of_its_own() {
        let mut bench = Bench::new();
        let handler = bench.paths.call_path_node_of_handler(15, MAIN);
        bench.context = Context::new(0, handler, MAIN, &bench.functions);
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        bench.follow(FIRST + 8, MAIN + 12, 0x1000, false);
        assert!(bench.finish().is_empty());
    }

    #[test]
    fn mutual_tail_calls_do_not_grow_the_stack() {
        let mut bench = Bench::new();
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        for _ in 0..100 {
            bench.follow(FIRST + 20, SECOND, 0x1000, false);
            bench.follow(SECOND + 20, FIRST, 0x1000, false);
        }
        assert!(bench.follow(FIRST + 30, MAIN + 12, 0x1000, false).len() < 4);
    }

    #[test]
    fn loops_and_recursion_are_distinguished() {
        let mut bench = Bench::new();
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        assert!(bench.follow(FIRST + 40, FIRST, 0x0ff0, false).is_empty());
        bench.follow(FIRST + 8, FIRST, 0x0ff0, true);
        assert_eq!(bench.path(), [MAIN, FIRST, FIRST]);
        bench.follow(FIRST + 40, FIRST + 12, 0x0ff0, false);
        assert_eq!(bench.path(), [MAIN, FIRST]);
    }

    #[test]
    fn return_to_its_own_address_is_a_return() {
        let mut bench = Bench::new();
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        for sp in [0x0ff8, 0x0ff0] {
            bench.follow(FIRST, FIRST + 2, sp, false);
            bench.follow(FIRST + 8, FIRST, sp, true);
        }
        bench.follow(FIRST, FIRST + 2, 0x0fe8, false);
        for (sp, path) in [(0x0ff0, vec![MAIN, FIRST, FIRST]), (0x0ff8, vec![MAIN, FIRST])] {
            assert!(matches!(bench.follow(FIRST + 12, FIRST + 12, sp, false)[..], [Move::Out(_)]));
            assert_eq!(bench.path(), path);
        }
    }

    #[test]
    fn long_jump_ends_all_calls_in_between() {
        let mut bench = Bench::new();
        bench.follow(MAIN + 8, FIRST, 0x1000, true);
        bench.follow(FIRST + 8, SECOND, 0x0ff0, true);
        let moves = bench.follow(SECOND + 8, MAIN + 30, 0x1000, false);
        assert!(matches!(moves[..], [Move::Left(_), Move::Left(_)]), "{moves:?}");
        assert_eq!(bench.path(), [MAIN]);
    }

    #[test]
    fn thread_is_resumed_at_its_own_call_stack() {
        let mut bench = Bench::new();
        let mut threads = SuspendedThreadSet::default();
        bench.context.sp = 0x1000;
        bench.context.pc = MAIN + 6;
        threads.suspend_thread(bench.context.clone());
        assert!(threads.resume_suspended_thread(MAIN + 6, 0x0f00).is_none());
        assert!(threads.resume_suspended_thread(MAIN + 6, 0x1000).is_some());
        threads.suspend_thread(bench.context.clone());
        assert!(threads.resume_suspended_thread(FIRST, 0x1000).is_none());
        assert!(threads.resume_suspended_thread(MAIN + 6, 0x1000).is_none());
    }
}
