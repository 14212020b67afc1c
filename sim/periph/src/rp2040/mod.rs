//! The RP2040's blocks and the aggregate that a machine owns.
//!
//! [`Rp2040Peripherals`] routes an address to its block, resolves the atomic aliases, keeps blocks in reset
//! silent, and recomputes the clocks. The machine keeps its own copy of the clock tree and takes a new one
//! whenever [`crate::Effects::clocks_changed`] is set after a call.

mod adc;
pub mod bootrom;
mod bus_map;
mod busctrl;
mod clocks;
mod dispatch;
mod dma;
mod i2c;
mod io_bank0;
mod io_qspi;
pub mod limits;
mod pads;
mod pio;
mod pll;
mod psm;
mod pwm;
mod regfile;
mod resets;
mod rosc;
mod rtc;
mod sio;
mod spi;
mod ssi;
mod syscfg;
mod sysinfo;
#[cfg(test)]
pub(crate) mod testing;
mod timer;
mod uart;
mod vreg;
mod watchdog;
mod xip_ctrl;
mod xosc;

pub use adc::Adc;
pub use busctrl::{BusMaster, Busctrl};
pub use clocks::{ClockSourceFrequencies, Clocks, frequencies_of_all_clocks, oscillator_and_pll_frequencies};
pub use dma::{Dma, DmaTransfer};
pub use i2c::I2c;
pub use io_bank0::{DrivenPinOutputs, IoBank0};
pub use io_qspi::IoQspi;
pub use limits::Limit;
pub use pads::Pads;
pub use pio::Pio;
pub use pll::Pll;
pub use psm::Psm;
pub use pwm::Pwm;
pub use regfile::{FixedRegisters, RegFile};
pub use resets::{RESETS_MASK, Resets, bit as reset_bit};
pub use rosc::{ROSC_NOMINAL_HZ, Rosc};
pub use rtc::Rtc;
pub use sio::{GpioBank, LockAccess, LockAccessKind, LockStats, Sio};
pub use spi::Spi;
pub use ssi::{Flash, Ssi, XipFrame};
pub use syscfg::Syscfg;
pub use sysinfo::{CHIP_ID, Sysinfo, Tbman};
pub use timer::Timer;
pub use uart::Uart;
pub use vreg::{HAD_POR, HAD_RUN, PSM_RESTART_FLAG, Vreg};
pub use watchdog::{REASON_FORCE, REASON_TIMER, Watchdog};
pub use xip_ctrl::XipCtrl;
pub use xosc::Xosc;

mod aggregate;
mod aggregate_dma;
mod aggregate_rom;
pub use aggregate::{PinLevels, Rp2040Peripherals};
pub use aggregate_dma::DmaBus;
pub use aggregate_rom::ResetCause;
pub use bus_map::{Block, has_slow_atomic_alias, peripheral_block_at_address};
