//! Pending, enabled and active exceptions and their priorities (ARMv7-M B1.5.4, B3.4).
//!
//! The question whether an exception must be taken arises between any two instructions, and nearly always nothing is
//! pending. So the most urgent candidate and the active priority are updated at each change, and the question is one
//! comparison.

/// Exception numbers of the architecture.
pub mod exception {
    /// Non-maskable interrupt.
    pub const NMI: u32 = 2;
    /// HardFault.
    pub const HARD_FAULT: u32 = 3;
    /// Memory protection fault.
    pub const MEM_MANAGE: u32 = 4;
    /// Bus fault.
    pub const BUS_FAULT: u32 = 5;
    /// Usage fault.
    pub const USAGE_FAULT: u32 = 6;
    /// Supervisor call.
    pub const SVCALL: u32 = 11;
    /// Debug monitor.
    pub const DEBUG_MONITOR: u32 = 12;
    /// Pendable service request.
    pub const PENDSV: u32 = 14;
    /// System timer.
    pub const SYSTICK: u32 = 15;
    /// First external interrupt.
    pub const IRQ0: u32 = 16;
}

/// Priority of thread mode: below every exception.
pub const THREAD_PRIORITY: i32 = 256;

/// Exceptions of a core: 16 of the system and up to 240 external interrupts.
pub const EXCEPTIONS: usize = 256;

/// A set of exception numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExceptionSet([u64; EXCEPTIONS / 64]);

impl ExceptionSet {
    /// Returns whether the set contains `number`.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 != 0
    }

    /// Adds `number` to the set or removes it.
    #[inline]
    pub fn add_or_remove_exception(&mut self, number: u32, on: bool) {
        let bit = 1 << (number % 64);
        let word = &mut self.0[number as usize / 64];
        *word = if on { *word | bit } else { *word & !bit };
    }

    /// Returns the members of the set in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| index as u32 * 64 + rest.trailing_zeros())
        })
    }

    /// Returns the intersection with another set of exceptions.
    fn intersection(&self, other: &ExceptionSet) -> ExceptionSet {
        ExceptionSet(std::array::from_fn(|index| self.0[index] & other.0[index]))
    }

    /// Returns the bits of external interrupts 32·`word` … 32·`word` + 31.
    fn interrupt_line_bits(&self, word: u32) -> u32 {
        let mut value = 0;
        for bit in 0..32 {
            let number = exception::IRQ0 + 32 * word + bit;
            if number < EXCEPTIONS as u32 && self.contains(number) {
                value |= 1 << bit;
            }
        }
        value
    }
}

/// The interrupt controller of one ARMv7-M core, with the states of all its exceptions.
#[derive(Debug, Clone)]
pub struct Nvic {
    pending: ExceptionSet,
    enabled: ExceptionSet,
    active: ExceptionSet,
    /// Level of each external line as the chip drives it.
    levels: ExceptionSet,
    priority: [u8; EXCEPTIONS],
    /// Priority bits that exist.
    priority_mask: u8,
    /// External lines that exist.
    lines: u32,
    prigroup: u8,
    /// Most urgent pending and enabled exception, 0 without one.
    best: u32,
    /// Its group priority.
    best_priority: i32,
    /// Group priority of the most urgent active exception.
    active_priority: i32,
}

impl Nvic {
    /// Creates a controller in reset state with this number of lines and priority bits.
    pub fn new(lines: u16, priority_bits: u8) -> Nvic {
        let mut nvic = Nvic {
            pending: ExceptionSet::default(),
            enabled: ExceptionSet::default(),
            active: ExceptionSet::default(),
            levels: ExceptionSet::default(),
            priority: [0; EXCEPTIONS],
            priority_mask: !(0xff_u32 >> priority_bits) as u8,
            lines: u32::from(lines),
            prigroup: 0,
            best: 0,
            best_priority: THREAD_PRIORITY,
            active_priority: THREAD_PRIORITY,
        };
        for number in [2, 3, 11, 14, 15] {
            nvic.enabled.add_or_remove_exception(number, true);
        }
        nvic
    }

    /// Returns the interrupt controller after a reset of its core. The lines keep their levels, and those that are high
    /// pend.
    pub fn after_reset(&self) -> Nvic {
        let mut nvic = Nvic::new(self.lines as u16, self.priority_mask.count_ones() as u8);
        nvic.levels = self.levels;
        nvic.pending = self.levels;
        nvic
    }

    /// Returns the number of external interrupt lines that exist.
    pub fn external_interrupt_count(&self) -> u32 {
        self.lines
    }

    /// Returns the priority of an exception: −3 to −1, or 0 to 255.
    pub fn priority_of(&self, number: u32) -> i32 {
        match number {
            1 => -3,
            exception::NMI => -2,
            exception::HARD_FAULT => -1,
            _ => i32::from(self.priority[number as usize]),
        }
    }

    /// Returns the part of a priority that decides pre-emption (AIRCR.PRIGROUP, B1.5.4).
    pub fn group_priority(&self, priority: i32) -> i32 {
        if priority < 0 { priority } else { priority & !((2 << self.prigroup) - 1) }
    }

    /// Returns the most urgent exception of a set: by priority with its subpriority, then by number.
    fn most_urgent_exception(&self, set: &ExceptionSet) -> Option<u32> {
        set.iter().min_by_key(|&number| (self.priority_of(number), number))
    }

    /// Recomputes which exception would be taken first, after a pending, enabled or priority bit changed.
    fn update_exception_to_take(&mut self) {
        let best = self.most_urgent_exception(&self.pending.intersection(&self.enabled));
        self.best = best.unwrap_or(0);
        self.best_priority = best.map_or(THREAD_PRIORITY, |number| self.group_priority(self.priority_of(number)));
    }

    /// Recomputes the active priority, after an exception became active or inactive.
    fn update_active_priority(&mut self) {
        let most = self.active.iter().map(|number| self.group_priority(self.priority_of(number))).min();
        self.active_priority = most.unwrap_or(THREAD_PRIORITY);
    }

    /// Returns the pending and enabled exception that would be taken first, and its group priority.
    #[inline(always)]
    pub fn most_urgent_pending(&self) -> Option<(u32, i32)> {
        if self.best == 0 { None } else { Some((self.best, self.best_priority)) }
    }

    /// Returns the group priority of the most urgent active exception.
    #[inline(always)]
    pub fn active_priority(&self) -> i32 {
        self.active_priority
    }

    /// Returns whether an exception is pending.
    pub fn is_pending(&self, number: u32) -> bool {
        self.pending.contains(number)
    }

    /// Returns whether an exception is enabled.
    pub fn is_enabled(&self, number: u32) -> bool {
        self.enabled.contains(number)
    }

    /// Returns whether an exception is active.
    pub fn is_active(&self, number: u32) -> bool {
        self.active.contains(number)
    }

    /// Returns the number of active exceptions.
    pub fn active_exception_count(&self) -> usize {
        self.active.iter().count()
    }

    /// Returns whether any external interrupt is pending, enabled or not.
    pub fn is_any_interrupt_pending(&self) -> bool {
        self.pending.iter().any(|number| number >= exception::IRQ0)
    }

    /// Returns whether no exception other than `number` is active.
    pub fn is_only_active_exception(&self, number: u32) -> bool {
        self.active.iter().all(|active| active == number)
    }

    /// Makes an exception pending or not. Returns true if it is newly pending.
    pub fn set_exception_pending(&mut self, number: u32, on: bool) -> bool {
        let fresh = on && !self.pending.contains(number);
        self.pending.add_or_remove_exception(number, on);
        self.update_exception_to_take();
        fresh
    }

    /// Enables or disables an exception.
    pub fn set_enabled(&mut self, number: u32, on: bool) {
        self.enabled.add_or_remove_exception(number, on);
        self.update_exception_to_take();
    }

    /// Makes an exception active or not, as writes to SHCSR do.
    pub fn set_exception_active(&mut self, number: u32, on: bool) {
        self.active.add_or_remove_exception(number, on);
        self.update_active_priority();
    }

    /// Makes all exceptions inactive (AIRCR.VECTCLRACTIVE).
    pub fn deactivate_all_exceptions(&mut self) {
        self.active = ExceptionSet::default();
        self.update_active_priority();
    }

    /// Sets the level of an external line: a rising edge pends. Returns true if it is newly pending.
    pub fn set_line_level(&mut self, line: u32, level: bool) -> bool {
        if line >= self.lines {
            return false;
        }
        let number = exception::IRQ0 + line;
        let rises = level && !self.levels.contains(number);
        self.levels.add_or_remove_exception(number, level);
        rises && self.set_exception_pending(number, true)
    }

    /// Marks an exception as active and no longer pending, because its handler is entered.
    pub fn activate_exception(&mut self, number: u32) {
        self.pending.add_or_remove_exception(number, false);
        self.active.add_or_remove_exception(number, true);
        self.update_exception_to_take();
        self.update_active_priority();
    }

    /// Marks an exception as no longer active, because its handler has returned. A line that is still high pends again.
    pub fn deactivate_exception(&mut self, number: u32) {
        self.active.add_or_remove_exception(number, false);
        self.update_active_priority();
        if self.levels.contains(number) {
            self.set_exception_pending(number, true);
        }
    }

    /// Sets the priority byte of a configurable exception. Only implemented bits are stored.
    pub fn set_priority(&mut self, number: u32, value: u8) {
        self.priority[number as usize] = value & self.priority_mask;
        self.update_exceptions_by_priority();
    }

    /// Returns AIRCR.PRIGROUP.
    pub fn priority_grouping(&self) -> u8 {
        self.prigroup
    }

    /// Sets AIRCR.PRIGROUP.
    pub fn set_priority_grouping(&mut self, value: u8) {
        self.prigroup = value & 7;
        self.update_exceptions_by_priority();
    }

    /// Recomputes which exception would be taken first, and the active priority, after a priority or the grouping
    /// changed.
    fn update_exceptions_by_priority(&mut self) {
        self.update_exception_to_take();
        self.update_active_priority();
    }

    /// Returns the implemented bits of a priority, which are those of BASEPRI, too.
    pub fn implemented_priority_bits(&self, value: u8) -> u8 {
        value & self.priority_mask
    }

    /// Reads an NVIC register at an offset from 0xE000E000, as a whole word. `None` if nothing is there.
    pub fn read_register(&self, offset: u32) -> Option<u32> {
        let word = (offset & 0x7f) / 4;
        Some(match offset {
            0x100..=0x13f | 0x180..=0x1bf => self.enabled.interrupt_line_bits(word & 0xf),
            0x200..=0x23f | 0x280..=0x2bf => self.pending.interrupt_line_bits(word & 0xf),
            0x300..=0x33f => self.active.interrupt_line_bits(word),
            0x400..=0x4ef => self.priority_word(exception::IRQ0 + (offset & !3) - 0x400),
            _ => return None,
        })
    }

    /// Writes the byte lanes in `mask` of an NVIC register. Returns false if nothing is there.
    pub fn write_register(&mut self, offset: u32, value: u32, mask: u32) -> bool {
        let word = (offset & 0x3f) / 4;
        match offset {
            0x100..=0x13f => self.change_interrupt_lines_in_mask(word, value, |nvic, number| {
                nvic.enabled.add_or_remove_exception(number, true)
            }),
            0x180..=0x1bf => self.change_interrupt_lines_in_mask(word, value, |nvic, number| {
                nvic.enabled.add_or_remove_exception(number, false)
            }),
            0x200..=0x23f => self.change_interrupt_lines_in_mask(word, value, |nvic, number| {
                nvic.pending.add_or_remove_exception(number, true)
            }),
            // A line that is high and not being served stays pending.
            0x280..=0x2bf => self.change_interrupt_lines_in_mask(word, value, |nvic, number| {
                let held = nvic.levels.contains(number) && !nvic.active.contains(number);
                nvic.pending.add_or_remove_exception(number, held);
            }),
            0x300..=0x33f => {}
            0x400..=0x4ef => self.set_priority_word(exception::IRQ0 + (offset & !3) - 0x400, value, mask),
            _ => return false,
        }
        true
    }

    /// Applies a change to each interrupt line whose bit is set in word number `word` of a register.
    fn change_interrupt_lines_in_mask(&mut self, word: u32, value: u32, change: impl Fn(&mut Nvic, u32)) {
        for bit in (0..32).filter(|bit| value >> bit & 1 != 0) {
            let line = 32 * word + bit;
            if line < self.lines {
                change(self, exception::IRQ0 + line);
            }
        }
        self.update_exception_to_take();
    }

    /// Returns four priority bytes, beginning with exception `first`.
    pub fn priority_word(&self, first: u32) -> u32 {
        let at = first as usize;
        u32::from_le_bytes(std::array::from_fn(|index| self.priority[at + index]))
    }

    /// Writes the bytes in `mask` of four exceptions' priorities, beginning with exception `first`. Those that do not
    /// exist stay 0.
    pub fn set_priority_word(&mut self, first: u32, value: u32, mask: u32) {
        for lane in (0..4).filter(|lane| mask >> (8 * lane) & 0xff != 0) {
            let number = first + lane;
            let exists = match number {
                4..=6 | 11 | 12 | 14 | 15 => true,
                _ => number >= exception::IRQ0 && number < exception::IRQ0 + self.lines,
            };
            if exists {
                self.priority[number as usize] = (value >> (8 * lane)) as u8 & self.priority_mask;
            }
        }
        self.update_exceptions_by_priority();
    }
}

#[cfg(test)]
mod tests;
