//! Instruments that observe a machine without disturbing it, the scripted console, and injected stimuli. They know no
//! chip and no core: the machine tells them what happened and they never cost a cycle.

pub mod between;
pub mod console;
pub mod event;
pub mod injection;
pub mod probe;

pub use between::Between;
pub use console::Console;
pub use event::{Event, Kind};
pub use injection::{Injections, Stimulus};
pub use probe::Probes;
