//! The frequencies of a chip.

/// A bus to which peripherals are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bus {
    /// AHB1 to AHB4 of the reference manual (F1 and L0: the AHB is `Ahb1`).
    Ahb1,
    /// AHB2.
    Ahb2,
    /// AHB3.
    Ahb3,
    /// AHB4 (H7, domain D3).
    Ahb4,
    /// APB1.
    Apb1,
    /// APB2.
    Apb2,
    /// APB3 (H7, domain D1).
    Apb3,
    /// APB4 (H7, domain D3).
    Apb4,
    /// The single-cycle I/O port of the L0's core.
    IoPort,
    /// The core's private peripheral bus.
    Ppb,
}

impl Bus {
    /// Returns whether the bus is behind an AHB-to-APB bridge.
    #[must_use]
    pub fn is_on_apb(self) -> bool {
        matches!(self, Bus::Apb1 | Bus::Apb2 | Bus::Apb3 | Bus::Apb4)
    }
}

/// The clock frequencies of a chip in Hz. 0 for a clock that is off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks {
    /// The core. The unit of all cycle numbers.
    pub core_hz: u64,
    /// SYSCLK, before the prescalers.
    pub sysclk_hz: u64,
    /// AHB (H7: the AXI and all AHBs).
    pub hclk_hz: u64,
    /// APB1 to APB4.
    pub pclk_hz: [u64; 4],
    /// Timers on APB1 and on APB2.
    pub timer_hz: [u64; 2],
    /// HSI as the rest of the chip sees it.
    pub hsi_hz: u64,
    /// HSE.
    pub hse_hz: u64,
    /// LSI.
    pub lsi_hz: u64,
    /// LSE.
    pub lse_hz: u64,
    /// MSI (L0) or CSI (H7).
    pub msi_hz: u64,
    /// Outputs P, Q, R of the PLLs (F4: PLL, PLLI2S, PLLSAI). F1 and L0 have P only.
    pub pll_hz: [[u64; 3]; 3],
}

impl Clocks {
    /// Returns the frequency of a bus in Hz.
    #[must_use]
    pub fn bus_hz(&self, bus: Bus) -> u64 {
        match bus {
            Bus::Apb1 => self.pclk_hz[0],
            Bus::Apb2 => self.pclk_hz[1],
            Bus::Apb3 => self.pclk_hz[2],
            Bus::Apb4 => self.pclk_hz[3],
            Bus::Ahb1 | Bus::Ahb2 | Bus::Ahb3 | Bus::Ahb4 => self.hclk_hz,
            Bus::IoPort | Bus::Ppb => self.core_hz,
        }
    }

    /// Returns the core cycles in one cycle of a bus (all prescalers are whole).
    #[must_use]
    pub fn core_cycles_per_bus_cycle(&self, bus: Bus) -> u64 {
        self.core_hz.checked_div(self.bus_hz(bus)).unwrap_or(1).max(1)
    }

    /// Returns the number of core cycles after which the clocks of all buses are in the same phase again. Every divider
    /// is a power of two.
    #[must_use]
    pub fn common_clock_period(&self) -> u64 {
        let buses = [Bus::Ahb1, Bus::Apb1, Bus::Apb2, Bus::Apb3, Bus::Apb4];
        buses.into_iter().map(|bus| self.core_cycles_per_bus_cycle(bus)).max().unwrap_or(1)
    }

    /// Returns the frequency of SysTick's external reference in Hz: the core's clock divided by 8 on all these parts.
    #[must_use]
    pub fn systick_reference_hz(&self) -> u64 {
        self.core_hz / 8
    }
}
