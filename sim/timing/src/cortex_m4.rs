//! Cortex-M4 with FPU (r0p1) at zero wait states: what differs from [`crate::cortex_m3`].
//!
//! Sources: ARM DDI0439 (Cortex-M4 TRM) tables 3-1, 3-2 and 7-1 \[TRM\]; the measurements named in
//! [`crate::cortex_m3`].

use crate::Setting;
use crate::cortex_m3;

pub use crate::cortex_m3::{SETTINGS_COUNT, key};

/// Every multiplication, the DSP ones and UMAAL included \[TRM\].
pub const MULTIPLY_CYCLES: u64 = 1;

/// Cycles that an instruction directly after a load or store multiple waits if its address is made of the base that was
/// written back. Fitted to three lengths of one published routine, which it meets to the cycle and which know no such
/// wait on the M3. No other published figure has the case often.
pub const WRITTEN_BACK_BASE_CYCLES: u64 = 2;
/// VADD, VSUB, VMUL, VABS, VNEG, VCMP, VCVT, VMOV [TRM table 7-1].
pub const FLOAT_CYCLES: u64 = 1;
/// VMLA, VFMA and relatives [TRM table 7-1].
pub const FLOAT_MULTIPLY_ACCUMULATE_CYCLES: u64 = 3;
/// VDIV and VSQRT [TRM table 7-1]. Integer instructions continue meanwhile.
pub const FLOAT_DIVIDE_CYCLES: u64 = 14;
/// Extra cycle if the next instruction uses the result, except to accumulate on it [TRM 7.2.3].
pub const FLOAT_RESULT_USE_CYCLES: u64 = 1;
/// VMOV between one core and one S register: the table prints 2 for "one S" and 1 for "half of a D"; \[CI\] measured 1.
pub const FLOAT_MOVE_CYCLES: u64 = 1;
/// VMOV between two core registers and two S or one D register [TRM table 7-1].
pub const FLOAT_MOVE_DOUBLE_CYCLES: u64 = 2;
/// VMRS and VMSR [TRM table 7-1].
pub const FLOAT_SYSTEM_CYCLES: u64 = 1;

/// The core's adjustable rules: those of the M3, by the same keys.
pub const SETTINGS: [Setting; SETTINGS_COUNT] = cortex_m3::SETTINGS;
