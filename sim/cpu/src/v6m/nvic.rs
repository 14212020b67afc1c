//! NVIC and system control block of ARMv6-M: pending, enabled, active, priorities.
//!
//! Exception numbers index bit sets: bit 2 NMI, 3 HardFault, 11 SVCall, 14 PendSV, 15 SysTick, 16+n IRQ n.

/// Exception numbers of the architecture.
pub mod exception {
    /// Non-maskable interrupt.
    pub const NMI: u32 = 2;
    /// HardFault.
    pub const HARD_FAULT: u32 = 3;
    /// Supervisor call.
    pub const SVCALL: u32 = 11;
    /// Pendable service request.
    pub const PENDSV: u32 = 14;
    /// System timer.
    pub const SYSTICK: u32 = 15;
    /// First external interrupt.
    pub const IRQ0: u32 = 16;
}

/// Priority of thread mode: below every exception.
pub const THREAD_PRIORITY: i32 = 256;

const SYSTEM: u64 = 1 << 2 | 1 << 3 | 1 << 11 | 1 << 14 | 1 << 15;

/// The interrupt controller of one ARMv6-M core, with the exceptions of its system control block.
#[derive(Debug, Clone)]
pub struct Nvic {
    /// Pending exceptions.
    pub pending: u64,
    /// Enabled exceptions. System exceptions always are.
    pub enabled: u64,
    /// Active (entered, not returned) exceptions.
    pub active: u64,
    /// Level of each external line as the chip drives it.
    pub lines: u32,
    /// Priority byte of each exception, only bits 7:6 exist.
    pub priority: [u8; 48],
    /// Vector table address.
    pub vtor: u32,
    /// SCR: SEVONPEND 4, SLEEPDEEP 2, SLEEPONEXIT 1.
    pub scr: u32,
    /// MPU_CTRL, MPU_RNR, and RBAR/RASR of 8 regions: kept, not enforced.
    pub mpu: [u32; 18],
    /// AIRCR.SYSRESETREQ was written.
    pub reset_request: bool,
}

impl Nvic {
    /// Creates a controller in reset state.
    pub fn new() -> Nvic {
        Nvic {
            pending: 0,
            enabled: SYSTEM,
            active: 0,
            lines: 0,
            priority: [0; 48],
            vtor: 0,
            scr: 0,
            mpu: [0; 18],
            reset_request: false,
        }
    }

    /// Returns the priority of an exception: −2, −1, or 0 to 192.
    pub fn priority_of(&self, number: u32) -> i32 {
        match number {
            exception::NMI => -2,
            exception::HARD_FAULT => -1,
            _ => i32::from(self.priority[number as usize]),
        }
    }

    /// Returns the most urgent exception of a set and its priority. Ties go to the lowest number (ARMv6-M B1.5.4).
    fn most_urgent_exception(&self, mut set: u64) -> Option<(u32, i32)> {
        let mut best: Option<(u32, i32)> = None;
        while set != 0 {
            let number = set.trailing_zeros();
            set &= set - 1;
            let priority = self.priority_of(number);
            if best.is_none_or(|(_, p)| priority < p) {
                best = Some((number, priority));
            }
        }
        best
    }

    /// Returns the pending and enabled exception that would be taken first, and its priority.
    pub fn most_urgent_pending(&self) -> Option<(u32, i32)> {
        self.most_urgent_exception(self.pending & self.enabled)
    }

    /// Returns the priority of the most urgent active exception.
    pub fn active_priority(&self) -> i32 {
        if self.active == 0 {
            return THREAD_PRIORITY;
        }
        self.most_urgent_exception(self.active).map_or(THREAD_PRIORITY, |(_, p)| p)
    }

    /// Makes an exception pending. Returns true if it was not pending before.
    pub fn make_exception_pending(&mut self, number: u32) -> bool {
        let fresh = self.pending & 1 << number == 0;
        self.pending |= 1 << number;
        fresh
    }

    /// Returns the levels of the interrupt lines as they were driven last.
    pub fn nvic_input_line_levels(&self) -> u32 {
        self.lines
    }

    /// Sets the levels of the interrupt lines. Rising edges pend. Returns the set of newly pending exceptions.
    pub fn set_interrupt_line_levels(&mut self, lines: u32) -> u64 {
        let rising = lines & !self.lines;
        self.lines = lines;
        let fresh = u64::from(rising) << 16 & !self.pending;
        self.pending |= u64::from(rising) << 16;
        fresh
    }

    /// Marks an exception as active and no longer pending, because its handler is entered.
    pub fn activate_exception(&mut self, number: u32) {
        self.pending &= !(1 << number);
        self.active |= 1 << number;
    }

    /// Marks an exception as no longer active, because its handler has returned. A line that is still high pends again.
    pub fn deactivate_exception(&mut self, number: u32) {
        self.active &= !(1 << number);
        if number >= 16 && self.lines >> (number - 16) & 1 != 0 {
            self.pending |= 1 << number;
        }
    }

    /// Makes these exceptions no longer pending. Lines that are high and not active stay pending.
    fn clear_pending_exceptions(&mut self, set: u64) {
        self.pending &= !set;
        self.pending |= set & u64::from(self.lines) << 16 & !self.active;
    }

    /// Reads an NVIC or SCB register at an offset from 0xE000E000. `None` if nothing is there.
    pub fn read_register(&self, offset: u32, ipsr: u32) -> Option<u32> {
        let external = |set: u64| (set >> 16) as u32;
        Some(match offset {
            0x100 | 0x180 => external(self.enabled),
            0x200 | 0x280 => external(self.pending),
            0x400..=0x41c => self.priority_word(16 + (offset - 0x400)),
            0xd00 => 0x410c_c601,
            0xd04 => self.interrupt_control_state(ipsr),
            0xd08 => self.vtor,
            0xd0c => 0xfa05_0000,
            0xd10 => self.scr,
            0xd14 => 0x208,
            0xd1c => self.priority_word(8),
            0xd20 => self.priority_word(12),
            0xd24 => ((self.pending >> exception::SVCALL & 1) as u32) << 15,
            0xd90 => 0x0000_0800,
            0xd94 => self.mpu[0],
            0xd98 => self.mpu[1],
            0xd9c => self.mpu[2 + (self.mpu[1] & 7) as usize] & !0x10 | self.mpu[1] & 7,
            0xda0 => self.mpu[10 + (self.mpu[1] & 7) as usize],
            0xdf0 | 0xdf4 | 0xdf8 | 0xdfc | 0xd30 => 0,
            _ => return None,
        })
    }

    /// Writes an NVIC or SCB register at an offset from 0xE000E000. Returns false if nothing is there.
    pub fn write_register(&mut self, offset: u32, value: u32) -> bool {
        let set = u64::from(value) << 16;
        match offset {
            0x100 => self.enabled |= set,
            0x180 => self.enabled &= !set,
            0x200 => self.pending |= set,
            0x280 => self.clear_pending_exceptions(set),
            0x400..=0x41c => self.set_priority_word(16 + (offset - 0x400), value, u32::MAX),
            0xd04 => self.write_interrupt_control_state(value),
            0xd08 => self.vtor = value & 0xffff_ff00,
            0xd0c => {
                if value >> 16 == 0x05fa && value & 4 != 0 {
                    self.reset_request = true;
                }
            }
            0xd10 => self.scr = value & 0x16,
            0xd1c => self.set_priority_word(8, value, 0xff00_0000),
            0xd20 => self.set_priority_word(12, value, 0xffff_0000),
            0xd24 => {
                let bit = 1 << exception::SVCALL;
                self.pending = self.pending & !bit | u64::from(value >> 15 & 1) << exception::SVCALL;
            }
            0xd94 => self.mpu[0] = value & 7,
            0xd98 => self.mpu[1] = value & 7,
            0xd9c => {
                if value & 0x10 != 0 {
                    self.mpu[1] = value & 7;
                }
                self.mpu[2 + (self.mpu[1] & 7) as usize] = value & 0xffff_ff00;
            }
            0xda0 => self.mpu[10 + (self.mpu[1] & 7) as usize] = value,
            0xd00 | 0xd14 | 0xd30 | 0xdf0..=0xdfc => {}
            _ => return false,
        }
        true
    }

    /// Returns the word of the priority registers that begins with exception `first`.
    fn priority_word(&self, first: u32) -> u32 {
        let at = first as usize;
        u32::from_le_bytes([self.priority[at], self.priority[at + 1], self.priority[at + 2], self.priority[at + 3]])
    }

    /// Writes the bytes in `mask` of the priority word that begins with exception `first`.
    fn set_priority_word(&mut self, first: u32, value: u32, mask: u32) {
        let bytes = (value & mask & 0xc0c0_c0c0).to_le_bytes();
        self.priority[first as usize..first as usize + 4].copy_from_slice(&bytes);
    }

    /// Returns ICSR (ARMv6-M B3.2.4). VECTPENDING ignores PRIMASK.
    fn interrupt_control_state(&self, ipsr: u32) -> u32 {
        let bit = |number: u32| (self.pending >> number & 1) as u32;
        bit(exception::NMI) << 31
            | bit(exception::PENDSV) << 28
            | bit(exception::SYSTICK) << 26
            | u32::from(self.pending >> 16 != 0) << 22
            | self.most_urgent_pending().map_or(0, |(number, _)| number) << 12
            | ipsr
    }

    /// Writes ICSR: pends NMI, and pends or unpends PendSV and SysTick.
    fn write_interrupt_control_state(&mut self, value: u32) {
        if value & 1 << 31 != 0 {
            self.pending |= 1 << exception::NMI;
        }
        for (number, set, clear) in [(exception::PENDSV, 28, 27), (exception::SYSTICK, 26, 25)] {
            if value >> set & 1 != 0 {
                self.pending |= 1 << number;
            } else if value >> clear & 1 != 0 {
                self.pending &= !(1 << number);
            }
        }
    }
}

impl Default for Nvic {
    /// Returns an NVIC in its reset state.
    fn default() -> Nvic {
        Nvic::new()
    }
}
