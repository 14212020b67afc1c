//! The features of one implementation of ARMv7-M.

/// The configuration of a core: whether it is a Cortex-M3, M4 or M7, and the options that the chip's maker has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Value of CPUID (0xE000ED00).
    pub cpuid: u32,
    /// ARMv7E-M: the DSP extension (M4, M7).
    pub dsp: bool,
    /// Single-precision floating point.
    pub float: bool,
    /// Double precision too (and the M7's FPv5 instructions).
    pub double: bool,
    /// Bit-band aliases of 0x20000000 and 0x40000000.
    pub bit_band: bool,
    /// Regions of the MPU, 0 without one.
    pub mpu_regions: u8,
    /// Priority bits implemented.
    pub priority_bits: u8,
    /// External interrupt lines.
    pub irq_lines: u16,
    /// DWT registers are after a lock (M7).
    pub dwt_lock: bool,
    /// Caches and their maintenance registers (M7).
    pub caches: bool,
    /// CCR.STKALIGN as it is at reset.
    pub stack_align: bool,
    /// CYCCNT continues while the core sleeps in WFI or WFE.
    pub counts_in_sleep: bool,
    /// SysTick calibration register (0xE000E01C), a fact of the chip.
    pub systick_calibration: u32,
    /// Size of the instruction TCM in kB, 0 without one (M7).
    pub itcm_kilobytes: u16,
    /// Size of the data TCM in kB (M7).
    pub dtcm_kilobytes: u16,
}

impl Features {
    /// Cortex-M3 r1p1 as in the STM32F103: no MPU.
    pub const CORTEX_M3: Features = Features {
        cpuid: 0x411f_c231,
        dsp: false,
        float: false,
        double: false,
        bit_band: true,
        mpu_regions: 0,
        priority_bits: 4,
        irq_lines: 43,
        dwt_lock: false,
        caches: false,
        stack_align: false,
        counts_in_sleep: false,
        systick_calibration: 9_000,
        itcm_kilobytes: 0,
        dtcm_kilobytes: 0,
    };

    /// Cortex-M4F r0p1 as in the STM32F4.
    pub const CORTEX_M4F: Features = Features {
        cpuid: 0x410f_c241,
        dsp: true,
        float: true,
        mpu_regions: 8,
        irq_lines: 82,
        stack_align: true,
        systick_calibration: 18_750,
        ..Features::CORTEX_M3
    };

    /// Cortex-M7 r1p0 with double precision as in the STM32F767.
    pub const CORTEX_M7: Features = Features {
        cpuid: 0x411f_c270,
        double: true,
        bit_band: false,
        irq_lines: 110,
        dwt_lock: true,
        caches: true,
        itcm_kilobytes: 16,
        dtcm_kilobytes: 128,
        ..Features::CORTEX_M4F
    };
}
