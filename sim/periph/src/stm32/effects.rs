//! The requests of a peripheral access to the machine.

/// The cause of a chip reset, whose flag firmware reads in RCC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetCause {
    /// Power came up.
    PowerOn,
    /// The reset pin.
    Pin,
    /// SYSRESETREQ.
    Software,
    /// Independent watchdog.
    Iwdg,
    /// Window watchdog.
    Wwdg,
}

impl ResetCause {
    /// Returns the part of the firmware or the chip that resets the chip for this cause. `None` if it comes from
    /// outside.
    pub fn name_of_part(self) -> Option<&'static str> {
        match self {
            ResetCause::Software => Some("software"),
            ResetCause::Iwdg => Some("the independent watchdog (IWDG)"),
            ResetCause::Wwdg => Some("the window watchdog (WWDG)"),
            ResetCause::PowerOn | ResetCause::Pin => None,
        }
    }
}

/// A change of the levels of a port's pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinChange {
    /// Core cycle of the edge.
    pub cycle: u64,
    /// Port, 0 = A.
    pub port: u8,
    /// Pins that changed.
    pub changed: u16,
    /// Levels of all pins of the port now.
    pub levels: u16,
}

/// An erasure of the flash array, which the machine carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashErase {
    /// First address.
    pub address: u32,
    /// Length in bytes.
    pub bytes: u32,
    /// The value of an erased byte: 0xff, on L0 0.
    pub value: u8,
}

/// The requests of a block to the machine after an access or event, beyond its own registers. The machine applies them
/// after every call.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// Frequencies changed: copy [`super::Stm32::clocks`] again.
    pub clocks_changed: bool,
    /// FLASH_ACR changed: read [`super::Stm32::flash_read_settings`] again.
    pub flash_timing_changed: bool,
    /// The accelerator's instruction cache (`.0`) or data cache (`.1`) was emptied.
    pub flash_cache_reset: (bool, bool),
    /// The memory shown at address 0 changed: read [`super::Stm32::memory_at_zero`].
    pub remap: bool,
    /// A watchdog asks for a chip reset: reset the core, then call [`super::Stm32::reset_non_backup_blocks`].
    pub chip_reset: Option<ResetCause>,
    /// Bytes that left a serial port: (its number in the manual, 0 for LPUART1; byte), in order.
    pub uart_tx: Vec<(u8, u8)>,
    /// Pin edges, in order of time.
    pub pins: Vec<PinChange>,
    /// Parts of the flash to erase.
    pub erase: Vec<FlashErase>,
    /// An EXTI line in event mode fired: wakes WFE.
    pub event: bool,
    /// A register that this model does not implement was touched: (address, true if written). Once per block.
    pub unmodelled: Option<(u32, bool)>,
    /// Sentences of [`super::unsupported`] that were asked for now. Each one once.
    pub limits: Vec<&'static str>,
    /// A block was touched while its clock is off: (address, true if written). Once per block.
    pub unclocked: Option<(u32, bool)>,
}
