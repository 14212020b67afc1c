//! The clock frequencies that peripherals convert with.

use crate::ElapsedTime;

/// The frequencies of all clocks in Hz, derived from the crystal, the ring oscillator and the PLL settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockTree {
    /// clk_sys: the cores, the bus and the unit of all cycle numbers.
    pub sys_hz: u64,
    /// clk_ref: watchdog tick source.
    pub ref_hz: u64,
    /// clk_peri: UART and SPI. 0 while disabled.
    pub peri_hz: u64,
    /// clk_usb.
    pub usb_hz: u64,
    /// clk_adc.
    pub adc_hz: u64,
    /// clk_rtc.
    pub rtc_hz: u64,
    /// Watchdog tick: drives TIMER, the watchdog and SysTick's external reference. 0 while off. 1 MHz normally.
    pub tick_hz_num: u64,
    /// Denominator of the tick rate (tick = tick_hz_num / tick_hz_den Hz).
    pub tick_hz_den: u64,
    /// The time since power-on, by the cycles of clk_sys.
    pub elapsed: ElapsedTime,
}
