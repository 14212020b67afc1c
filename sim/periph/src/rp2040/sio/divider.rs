//! Integer divider (data sheet 2.3.1.5): 8 cycles, one per core.

/// Cycles from the operand write until the result stands.
const DIVIDE_CYCLES: u64 = 8;

/// The hardware divider of one core.
#[derive(Debug, Clone, Default)]
pub(super) struct Divider {
    dividend: u32,
    divisor: u32,
    quotient: u32,
    remainder: u32,
    /// Result under way, taken over at `ready_at`.
    next: (u32, u32),
    ready_at: u64,
    running: bool,
    dirty: bool,
}

/// Returns quotient and remainder. A division by zero gives all ones, and the dividend.
fn divide_unsigned(dividend: u32, divisor: u32) -> (u32, u32) {
    match dividend.checked_div(divisor) {
        Some(quotient) => (quotient, dividend % divisor),
        None => (u32::MAX, dividend),
    }
}

/// Returns quotient and remainder. A division by zero gives 1 or -1 against the dividend's sign, and the dividend.
fn divide_signed(dividend: i32, divisor: i32) -> (u32, u32) {
    if divisor == 0 {
        let quotient = if dividend < 0 { 1 } else { u32::MAX };
        return (quotient, dividend as u32);
    }
    (dividend.wrapping_div(divisor) as u32, dividend.wrapping_rem(divisor) as u32)
}

impl Divider {
    /// Stores the result of a division that has ended by cycle `now`.
    fn store_finished_division(&mut self, now: u64) {
        if self.running && now >= self.ready_at {
            (self.quotient, self.remainder) = self.next;
            self.running = false;
        }
    }

    /// Reads a register of the divider. Reads of an unfinished result are not stalled, and give the previous one
    /// (unspecified on silicon).
    pub fn read_register(&mut self, offset: u32, now: u64) -> u32 {
        self.store_finished_division(now);
        match offset {
            0x00 | 0x08 => self.dividend,
            0x04 | 0x0c => self.divisor,
            0x10 => {
                self.dirty = false;
                self.quotient
            }
            0x14 => self.remainder,
            _ => u32::from(!self.running) | u32::from(self.dirty) << 1,
        }
    }

    /// Writes an operand, which starts a division, or a result.
    pub fn write_register(&mut self, offset: u32, value: u32, now: u64) {
        self.store_finished_division(now);
        match offset {
            0x00 | 0x08 => self.dividend = value,
            0x04 | 0x0c => self.divisor = value,
            // A context restore: the written result stands and any running division is abandoned.
            0x10 | 0x14 => {
                let register = if offset == 0x10 { &mut self.quotient } else { &mut self.remainder };
                *register = value;
                self.running = false;
                self.dirty = true;
                return;
            }
            _ => return,
        }
        self.next = if offset < 8 {
            divide_unsigned(self.dividend, self.divisor)
        } else {
            divide_signed(self.dividend as i32, self.divisor as i32)
        };
        self.ready_at = now + DIVIDE_CYCLES;
        self.running = true;
        self.dirty = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(signed: bool, dividend: u32, divisor: u32) -> (u32, u32) {
        let mut divider = Divider::default();
        let base = if signed { 8 } else { 0 };
        divider.write_register(base, dividend, 0);
        divider.write_register(base + 4, divisor, 1);
        (divider.read_register(0x10, 9), divider.read_register(0x14, 9))
    }

    #[test]
    fn results() {
        assert_eq!(run(false, 100, 7), (14, 2));
        assert_eq!(run(false, u32::MAX, 2), (0x7fff_ffff, 1));
        assert_eq!(run(true, -100i32 as u32, 7), (-14i32 as u32, -2i32 as u32));
        assert_eq!(run(true, 0x8000_0000, u32::MAX), (0x8000_0000, 0));
    }

    #[test]
    fn division_by_zero() {
        assert_eq!(run(false, 5, 0), (u32::MAX, 5));
        assert_eq!(run(true, 5, 0), (u32::MAX, 5));
        assert_eq!(run(true, -5i32 as u32, 0), (1, -5i32 as u32));
    }

    #[test]
    fn ready_after_eight_cycles_and_dirty_until_the_quotient_is_read() {
        let mut divider = Divider::default();
        assert_eq!(divider.read_register(0x18, 0), 1);
        divider.write_register(0x00, 9, 100);
        divider.write_register(0x04, 3, 101);
        assert_eq!(divider.read_register(0x18, 108), 2);
        assert_eq!(divider.read_register(0x14, 108), 0);
        assert_eq!(divider.read_register(0x18, 109), 3);
        assert_eq!((divider.read_register(0x14, 109), divider.read_register(0x18, 109)), (0, 3));
        assert_eq!((divider.read_register(0x10, 109), divider.read_register(0x18, 109)), (3, 1));
    }

    #[test]
    fn writing_results_restores_divider_state() {
        let mut divider = Divider::default();
        divider.write_register(0x00, 9, 0);
        divider.write_register(0x14, 77, 1);
        divider.write_register(0x10, 66, 2);
        assert_eq!(divider.read_register(0x18, 2), 3);
        assert_eq!((divider.read_register(0x14, 50), divider.read_register(0x10, 50)), (77, 66));
    }
}
