//! Instruments that observe a machine without disturbing it, the scripted console, and injected stimuli. They know no
//! chip and of the cores only the [`Step`](rtoslab_cpu::step::Step): the machine tells them what happened and they
//! never cost a cycle.

pub mod between;
pub mod console;
pub mod event;
pub mod event_order;
pub mod injection;
pub mod observer;
pub mod probe;
mod quick;
pub mod tally;

pub use between::CycleIntervalStatistics;
pub use console::Console;
pub use event::{Event, Kind};
pub use injection::{Stimulus, StimulusSchedule};
pub use observer::{CoreView, Observer};
pub use probe::{ProbedRegisters, Probes};
pub use tally::EventCounts;
