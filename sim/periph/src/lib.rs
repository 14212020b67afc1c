//! Peripherals, one file per block: the RP2040's and the STM32s' ([`stm32`]), and the contract between a peripheral and
//! the machine.
//!
//! A peripheral knows its registers and nothing of the CPU, the bus or the other blocks. The machine calls
//! [`Peripheral::read_register`] and [`Peripheral::write_register`] with the register's offset inside the block,
//! resolves the atomic aliases (XOR, SET, CLR) before the call, and charges the bus cycles itself. Time is the clk_sys
//! cycle count. A peripheral that needs to act later says when through [`Peripheral::next_event_cycle`].

pub mod clock_tree;
pub mod device;
pub mod elapsed;
pub mod rate;
pub mod rp2040;
pub mod stm32;

pub use clock_tree::ClockTree;
pub use elapsed::ElapsedTime;
pub use rate::FractionalRateCounter;

/// A cycle number that is never reached: "nothing scheduled".
pub const NEVER: u64 = u64::MAX;

/// A peripheral's view of the machine during an access or an event: time, core, clocks, and its requests to the
/// machine.
pub struct Access<'a> {
    /// clk_sys cycle at which the access reaches the peripheral.
    pub now_cycles: u64,
    /// Number of the core that makes the access (0 in events).
    pub core: usize,
    /// Clock frequencies in force at `now_cycles`.
    pub clocks: &'a ClockTree,
    /// The requests to the machine after the access.
    pub effects: &'a mut Effects,
}

impl Access<'_> {
    /// Returns the time since power-on at a cycle, in nanoseconds, for attached devices.
    #[must_use]
    pub fn ns_at(&self, cycle: u64) -> u64 {
        self.clocks.elapsed.ns_at(cycle)
    }
}

/// The requests of a peripheral to the machine after an access or event, beyond its own registers. The machine applies
/// them after every call.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// A clock source, PLL, divider or the watchdog tick changed: the machine recomputes its [`ClockTree`].
    pub clocks_changed: bool,
    /// PSM holds core 1 in reset (`Some(true)`) or lets it go (`Some(false)`).
    pub core1_reset: Option<bool>,
    /// RESETS asserted (`.0`) or released (`.1`) these block bits.
    pub resets: Option<(u32, u32)>,
    /// The watchdog (or AIRCR through the machine) asks for a chip reset.
    pub chip_reset: bool,
    /// Bytes that left a UART: (uart number, byte), in order, stamped by the machine.
    pub uart_tx: Vec<(u8, u8)>,
    /// GPIO output levels or output enables may have changed: the machine samples the pins.
    pub pins_changed: bool,
    /// The XIP cache must be flushed.
    pub xip_flush: bool,
    /// The SSI set-up (clock divider, frame format) or the XIP control register changed.
    pub xip_timing_changed: bool,
    /// A register this model does not implement was touched: (offset, true if written).
    pub unmodelled: Option<(u32, bool)>,
    /// A register was asked for what it does not do here.
    pub limit: Option<&'static rp2040::Limit>,
}

/// A memory-mapped block of registers. Offsets are already stripped of the base address and of the atomic alias.
pub trait Peripheral {
    /// The data sheet's name of the block, for warnings.
    const NAME: &'static str;

    /// Puts every register to its reset value (RESETS does this when it asserts the block's bit).
    fn reset_registers(&mut self);

    /// Reads a register with its side effects.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32;

    /// Writes a whole register (narrow stores are already replicated by the bus).
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access);

    /// Returns a register's current value without side effects, as the read-modify-write of an atomic alias sees it.
    fn peek_register(&self, offset: u32, access: &Access) -> u32;

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches a register unchanged, because written
    /// bits are commands or clear flags.
    fn is_strobe(&self, _offset: u32) -> bool {
        false
    }

    /// Returns the clk_sys cycle at which [`Peripheral::advance_to_now`] must be called next, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        NEVER
    }

    /// Advances the block to `access.now_cycles`. Called when it is due, and before a clock change.
    fn advance_to_now(&mut self, _access: &mut Access) {}

    /// Adapts the block to changed clock frequencies, which `access` has.
    fn clocks_changed(&mut self, _access: &mut Access) {}

    /// Returns the levels of the NVIC lines that this block drives, each at its number's bit.
    fn irq_levels(&self) -> u32 {
        0
    }
}
