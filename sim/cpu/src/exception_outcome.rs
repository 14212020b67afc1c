//! The outcome of an exception, for ARMv6-M and ARMv7-M.

/// The outcome of one step of a core's exception handling, for the machine and for observers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceptionStepResult {
    /// A handler's first instruction issues next.
    Entered(u32),
    /// Returned from this exception to the interrupted code.
    Returned(u32),
    /// Returned from the first and entered the second without unstacking.
    Chained(u32, u32),
    /// Returned from this exception to sleep (SLEEPONEXIT).
    Slept(u32),
    /// ARMv7-M: woke up and executes on.
    Woken,
    /// ARMv7-M: something was begun that a later step completes.
    Begun,
    /// ARMv7-M: the core is locked up. (Of ARMv6-M its phase says that.)
    LockedUp,
    /// Nothing that an instrument sees.
    None,
}
