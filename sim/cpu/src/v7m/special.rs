//! Program status and special registers: MRS, MSR, CPS and xPSR in a stack frame (ARMv7-M B1.4, B5.2).

use super::core::Core;

/// Special register numbers (SYSm) of MRS and MSR.
pub(super) mod sysm {
    pub const MSP: u32 = 8;
    pub const PSP: u32 = 9;
    pub const PRIMASK: u32 = 16;
    pub const BASEPRI: u32 = 17;
    pub const BASEPRI_MAX: u32 = 18;
    pub const FAULTMASK: u32 = 19;
    pub const CONTROL: u32 = 20;
}

impl Core {
    /// Returns N, Z, C, V and Q in bits 31:27, GE in bits 19:16.
    pub fn apsr(&self) -> u32 {
        u32::from(self.nz < 0) << 31
            | u32::from(self.nz as u32 == 0) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
            | u32::from(self.q) << 27
            | u32::from(self.ge) << 16
    }

    /// Sets N, Z, C, V and Q.
    pub fn set_condition_and_saturation_flags(&mut self, value: u32) {
        let sign = i64::from(value >> 31) << 63;
        self.nz = sign | i64::from(value & 1 << 30 == 0);
        self.c = value >> 29 & 1 != 0;
        self.v = value >> 28 & 1 != 0;
        self.q = value >> 27 & 1 != 0;
    }

    /// Sets the GE flags, where the core has them.
    pub fn set_ge_flags(&mut self, value: u32) {
        if self.features.dsp {
            self.ge = (value >> 16 & 0xf) as u8;
        }
    }

    /// Returns xPSR without the stack-alignment bit. ITSTATE and ICI share bits: ICI has zeros in the bits that contain
    /// the remaining length of an IT block.
    pub fn xpsr(&self) -> u32 {
        let it = u32::from(if self.ici != 0 { self.ici << 4 } else { self.it });
        self.apsr() | (it & 3) << 25 | (it >> 2) << 10 | u32::from(self.thumb) << 24 | self.ipsr
    }

    /// Restores flags, T, ITSTATE and ICI from a frame. IPSR is the caller's.
    pub fn set_xpsr(&mut self, value: u32) {
        self.set_condition_and_saturation_flags(value);
        self.set_ge_flags(value);
        self.thumb = value >> 24 & 1 != 0;
        let it = (value >> 25 & 3 | (value >> 10 & 0x3f) << 2) as u8;
        let block = it & 0xf != 0;
        self.it = if block { it } else { 0 };
        self.ici = if block { 0 } else { it >> 4 };
    }

    /// Returns CONTROL: nPRIV, SPSEL, FPCA.
    pub fn control_register_value(&self) -> u32 {
        u32::from(self.unprivileged) | u32::from(self.sp_is_psp) << 1 | u32::from(self.fpca) << 2
    }

    /// Returns the special register that MRS reads by this number. Registers that need privilege read as 0 without it.
    pub fn read_special_register(&self, number: u32) -> u32 {
        let privileged = self.is_privileged();
        match number {
            0..=7 => {
                let apsr = if number & 4 == 0 { self.apsr() } else { 0 };
                apsr | if number & 1 != 0 { self.ipsr } else { 0 }
            }
            sysm::MSP if privileged => self.main_stack_pointer(),
            sysm::PSP if privileged => self.process_stack_pointer(),
            sysm::PRIMASK if privileged => u32::from(self.primask),
            sysm::BASEPRI | sysm::BASEPRI_MAX if privileged => u32::from(self.basepri),
            sysm::FAULTMASK if privileged => u32::from(self.faultmask),
            sysm::CONTROL => self.control_register_value(),
            _ => 0,
        }
    }

    /// Writes the special register of an MSR by its number. `mask` is the opcode's (bit 1: N, Z, C, V, Q; bit 0: GE).
    /// Makes the executor return to the machine if this unmasks an exception.
    pub fn write_special_register(&mut self, number: u32, mask: u32, value: u32) {
        if number <= 3 {
            if mask & 2 != 0 {
                self.set_condition_and_saturation_flags(value);
            }
            if mask & 1 != 0 {
                self.set_ge_flags(value);
            }
            return;
        }
        if !self.is_privileged() {
            return;
        }
        match number {
            sysm::MSP => *self.stack_pointer_mut(false) = value & !3,
            sysm::PSP => *self.stack_pointer_mut(true) = value & !3,
            sysm::PRIMASK => self.primask = value & 1 != 0,
            sysm::BASEPRI => self.basepri = self.nvic.implemented_priority_bits(value as u8),
            sysm::BASEPRI_MAX => {
                let value = self.nvic.implemented_priority_bits(value as u8);
                if value != 0 && (value < self.basepri || self.basepri == 0) {
                    self.basepri = value;
                }
            }
            sysm::FAULTMASK => self.set_faultmask(value & 1 != 0),
            sysm::CONTROL => self.write_core_control_register(value),
            _ => {}
        }
        self.request_executor_exit_for_exception();
    }

    /// Executes CPSIE or CPSID: clears or sets the masks named. Without privilege it does nothing.
    pub fn execute_cps(&mut self, disable: bool, primask: bool, faultmask: bool) {
        if !self.is_privileged() {
            return;
        }
        if primask {
            self.primask = disable;
        }
        if faultmask {
            self.set_faultmask(disable);
        }
        if !disable {
            self.request_executor_exit_for_exception();
        }
    }

    /// Sets or clears FAULTMASK, which cannot be set in NMI or HardFault.
    fn set_faultmask(&mut self, on: bool) {
        if !on || self.execution_priority() > -1 {
            self.faultmask = on;
        }
    }

    /// Writes CONTROL.
    fn write_core_control_register(&mut self, value: u32) {
        let privileged = self.is_privileged();
        self.unprivileged = value & 1 != 0;
        if self.ipsr == 0 {
            self.select_stack_pointer(value & 2 != 0);
        }
        if self.features.float {
            self.fpca = value & 4 != 0;
        }
        self.float_ready = false;
        if self.is_privileged() != privileged && self.mpu.is_enabled() {
            self.refetch = true;
            self.limit = 0;
        }
    }

    /// Returns the main or the process stack pointer, to be changed.
    fn stack_pointer_mut(&mut self, psp: bool) -> &mut u32 {
        if self.sp_is_psp == psp { &mut self.r[13] } else { &mut self.other_sp }
    }
}
