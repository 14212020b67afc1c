//! The peripherals of the STM32 boards: L0, F1, F4, F7 and H7, one file per block, the chips as tables.
//!
//! [`Stm32`] is what a machine owns: [`Stm32::read_register`] and [`Stm32::write_register`] by address,
//! [`Stm32::next_advance_cycle`] and [`Stm32::process_events_until`] for what happens by itself, [`Stm32::irq_levels`]
//! for the NVIC, [`Effects`] for the rest. Sources are ST's reference manuals: RM0367 (L0x3), RM0008 (F103), RM0090
//! (F407), RM0383 (F411), RM0390 (F446), RM0410 (F767), RM0433 (H743).

mod adc;
mod adc_v4;
mod aggregate;
mod block;
mod chips;
mod clocks;
mod crc;
mod dma;
mod effects;
mod exti;
mod flash;
mod gpio;
mod i2c_v1;
mod i2c_v2;
mod iwdg;
mod limits;
mod map;
mod pwr;
mod rcc;
mod regfile;
mod rng;
mod rtc;
mod rtc_f1;
mod slots;
mod spi;
mod spi_h7;
mod syscfg;
#[cfg(test)]
pub(crate) mod testing;
mod timer;
pub mod unsupported;
mod usart;
mod wwdg;

pub use adc::{Adc, AdcLayout};
pub use adc_v4::{AdcV4, AdcV4Layout};
pub use aggregate::{Options, Pin, Stm32, Wire};
pub use block::{Access, Block};
pub use chips::Chip;
pub use clocks::{Bus, Clocks};
pub use crc::Crc;
pub use dma::mux::DmaMux;
pub use dma::{Dma, DmaBus};
pub use effects::{Effects, FlashErase, PinChange, ResetCause};
pub use exti::{Exti, ExtiLayout};
pub use flash::{Flash, FlashControl, FlashStore};
pub use gpio::{Gpio, GpioLayout};
pub use i2c_v1::I2cV1;
pub use i2c_v2::I2cV2;
pub use iwdg::Iwdg;
pub use pwr::{Pwr, PwrKind};
pub use rcc::{OscillatorStartUpTimes, Rcc};
pub use regfile::{FixedRegisters, RegFile};
pub use rng::Rng;
pub use rtc::Rtc;
pub use rtc_f1::RtcF1;
pub use spi::{Spi, SpiLayout};
pub use spi_h7::SpiH7;
pub use syscfg::{Syscfg, SyscfgKind};
pub use timer::{Timer, TimerKind};
pub use usart::{Usart, UsartLayout};
pub use wwdg::Wwdg;
