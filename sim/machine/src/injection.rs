//! The stimuli that can be injected into a chip.

use rtoslab_lab::Stimulus;

/// Exception number of interrupt 0.
const IRQ0: u32 = 16;
/// Exceptions of the core itself that software can pend, and so can a test: NMI, PendSV, SysTick.
const OF_THE_CORE: [u32; 3] = [2, 14, 15];

/// Checks a stimulus for a chip that is at cycle `now`, with these cores and interrupt lines, and pins as `has_pin`
/// says. The error is one sentence.
pub(crate) fn validate_stimulus_for_chip(
    now: u64,
    (cycle, stimulus): (u64, Stimulus),
    cores: usize,
    lines: u32,
    has_pin: impl Fn(u16) -> bool,
) -> Result<(), String> {
    if cycle < now {
        return Err(format!("cycle {cycle} is in the past, because the board is at cycle {now}"));
    }
    match stimulus {
        Stimulus::Exception { core, .. } if core >= cores => {
            Err(format!("there is no core {core} to interrupt; cores in use: {cores}"))
        }
        Stimulus::Exception { number, .. }
            if !OF_THE_CORE.contains(&number) && !(IRQ0..IRQ0 + lines).contains(&number) =>
        {
            Err(format!(
                "exception {number} cannot be raised from outside; use 2 (NMI), 14 (PendSV), 15 (SysTick) or 16 to {} (interrupt 0 to {})",
                IRQ0 + lines - 1,
                lines - 1
            ))
        }
        Stimulus::Pin { pin, .. } if !has_pin(pin) => Err(format!("the chip has no pin number {pin}")),
        _ => Ok(()),
    }
}
