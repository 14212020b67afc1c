//! Interpolators (data sheet 2.3.1.6): INTERP0 can blend, INTERP1 can clamp.

const SIGNED: u32 = 1 << 15;
const CROSS_INPUT: u32 = 1 << 16;
const CROSS_RESULT: u32 = 1 << 17;
const ADD_RAW: u32 = 1 << 18;
const BLEND: u32 = 1 << 21;
const CLAMP: u32 = 1 << 22;
const LANE_CTRL_MASK: u32 = 0x001f_ffff;

/// One interpolator of one core.
#[derive(Debug, Clone)]
pub(super) struct Interpolator {
    number: usize,
    accum: [u32; 2],
    base: [u32; 3],
    ctrl: [u32; 2],
}

/// The results that an interpolator's lanes compute from the registers, before FORCE_MSB.
struct InterpolatorResults {
    /// Shifted and masked value of each lane.
    masked: [u32; 2],
    /// Lane 0, lane 1 and full result.
    result: [u32; 3],
    overflow: [bool; 2],
}

impl Interpolator {
    /// Creates interpolator 0 or 1.
    pub fn new(number: usize) -> Self {
        Self { number, accum: [0; 2], base: [0; 3], ctrl: [0; 2] }
    }

    /// Returns whether lane 1 blends: interpolator 0 only.
    fn does_lane1_blend(&self) -> bool {
        self.number == 0 && self.ctrl[0] & BLEND != 0
    }

    /// Returns whether lane 0 clamps: interpolator 1 only.
    fn does_lane0_clamp(&self) -> bool {
        self.number == 1 && self.ctrl[0] & CLAMP != 0
    }

    /// Returns whether a lane's values are signed.
    fn is_lane_signed(&self, lane: usize) -> bool {
        self.ctrl[lane] & SIGNED != 0
    }

    /// Returns a lane's input: its accumulator, or the other lane's (CROSS_INPUT).
    fn interpolator_lane_input(&self, lane: usize) -> u32 {
        self.accum[if self.ctrl[lane] & CROSS_INPUT != 0 { 1 - lane } else { lane }]
    }

    /// Returns a lane's shifted, masked and sign-extended input, and whether the mask cut off set bits above it.
    fn shifted_and_masked_input(&self, lane: usize) -> (u32, bool) {
        let ctrl = self.ctrl[lane];
        let (shift, lsb, msb) = (ctrl & 31, (ctrl >> 5) & 31, (ctrl >> 10) & 31);
        let shifted = self.interpolator_lane_input(lane) >> shift;
        let below_msb = u32::MAX >> (31 - msb);
        let masked = shifted & below_msb & (u32::MAX << lsb);
        let extended =
            if self.is_lane_signed(lane) && masked >> msb & 1 != 0 { masked | u32::MAX << msb } else { masked };
        (extended, shifted & !below_msb != 0)
    }

    /// Returns the value limited to BASE0 and BASE1.
    fn clamp_between_base_registers(&self, value: u32) -> u32 {
        let (low, high) = (self.base[0], self.base[1]);
        let (below, above) = if self.is_lane_signed(0) {
            ((value as i32) < low as i32, value as i32 > high as i32)
        } else {
            (value < low, value > high)
        };
        if below {
            low
        } else if above {
            high
        } else {
            value
        }
    }

    /// Returns BASE0 + alpha * (BASE1 - BASE0) / 256, rounded down.
    fn blend_interpolator_bases(&self, alpha: u32) -> u32 {
        let wide = |value: u32| {
            if self.is_lane_signed(1) { i64::from(value as i32) } else { i64::from(value) }
        };
        let (from, to) = (wide(self.base[0]), wide(self.base[1]));
        (from + ((i64::from(alpha) * (to - from)) >> 8)) as u32
    }

    /// Computes the results of both lanes and the full result.
    fn compute_interpolator_results(&self) -> InterpolatorResults {
        let (mask0, over0) = self.shifted_and_masked_input(0);
        let (mask1, over1) = self.shifted_and_masked_input(1);
        let masked = [mask0, mask1];
        let sum = |lane: usize| {
            let addend = if self.ctrl[lane] & ADD_RAW != 0 { self.interpolator_lane_input(lane) } else { masked[lane] };
            self.base[lane].wrapping_add(addend)
        };
        let mut result = [sum(0), sum(1), self.base[2].wrapping_add(mask0)];
        if self.does_lane1_blend() {
            let alpha = mask1 & 0xff;
            result[0] = alpha;
            result[1] = self.blend_interpolator_bases(alpha);
        } else {
            result[2] = result[2].wrapping_add(mask1);
        }
        if self.does_lane0_clamp() {
            result[0] = self.clamp_between_base_registers(mask0);
        }
        InterpolatorResults { masked, result, overflow: [over0, over1] }
    }

    /// Returns a lane's result as the processor sees it: FORCE_MSB is ORed in on the bus only.
    fn lane_result_as_read_on_bus(&self, results: &InterpolatorResults, which: usize) -> u32 {
        let force = if which < 2 { (self.ctrl[which] >> 19 & 3) << 28 } else { 0 };
        results.result[which] | force
    }

    /// Returns a result, and writes the lanes' results back to the accumulators.
    fn pop_interpolator_result(&mut self, which: usize) -> u32 {
        let results = self.compute_interpolator_results();
        for lane in 0..2 {
            let from = if self.ctrl[lane] & CROSS_RESULT != 0 { 1 - lane } else { lane };
            self.accum[lane] = results.result[from];
        }
        self.lane_result_as_read_on_bus(&results, which)
    }

    /// Reads a register with its side effects.
    pub fn read_register(&mut self, offset: u32) -> u32 {
        let index = (offset / 4) as usize;
        match index {
            0 | 1 => self.accum[index],
            2..=4 => self.base[index - 2],
            5..=7 => self.pop_interpolator_result(index - 5),
            8..=10 => self.lane_result_as_read_on_bus(&self.compute_interpolator_results(), index - 8),
            11 => {
                let [over0, over1] = self.compute_interpolator_results().overflow;
                let flags = u32::from(over0) << 23 | u32::from(over1) << 24 | u32::from(over0 | over1) << 25;
                self.ctrl[0] | flags
            }
            12 => self.ctrl[1],
            13 | 14 => self.compute_interpolator_results().masked[index - 13],
            _ => 0,
        }
    }

    /// Writes a register.
    pub fn write_register(&mut self, offset: u32, value: u32) {
        let index = (offset / 4) as usize;
        match index {
            0 | 1 => self.accum[index] = value,
            2..=4 => self.base[index - 2] = value,
            11 => {
                let extra = if self.number == 0 { BLEND } else { CLAMP };
                self.ctrl[0] = value & (LANE_CTRL_MASK | extra);
            }
            12 => self.ctrl[1] = value & LANE_CTRL_MASK,
            13 | 14 => self.accum[index - 13] = self.accum[index - 13].wrapping_add(value & 0x00ff_ffff),
            15 => {
                // In blend mode lane 1's SIGNED governs both bases.
                let lane0 = usize::from(self.does_lane1_blend());
                for (lane, half, control) in [(0, value as u16, lane0), (1, (value >> 16) as u16, 1)] {
                    self.base[lane] =
                        if self.is_lane_signed(control) { half as i16 as i32 as u32 } else { u32::from(half) };
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCUM0: u32 = 0x00;
    const ACCUM1: u32 = 0x04;
    const BASE0: u32 = 0x08;
    const BASE1: u32 = 0x0c;
    const BASE2: u32 = 0x10;
    const POP0: u32 = 0x14;
    const POP_FULL: u32 = 0x1c;
    const PEEK0: u32 = 0x20;
    const PEEK1: u32 = 0x24;
    const PEEK_FULL: u32 = 0x28;
    const CTRL0: u32 = 0x2c;
    const CTRL1: u32 = 0x30;
    const FULL_MASK: u32 = 31 << 10;

    fn with(number: usize, writes: &[(u32, u32)]) -> Interpolator {
        let mut interp = Interpolator::new(number);
        for &(offset, value) in writes {
            interp.write_register(offset, value);
        }
        interp
    }

    #[test]
    fn popping_steps_the_accumulators() {
        // The data sheet's "times table": lane 0 adds 9 per pop.
        let mut interp = with(0, &[(ACCUM0, 0), (BASE0, 9), (CTRL0, FULL_MASK)]);
        assert_eq!([interp.read_register(POP0), interp.read_register(POP0), interp.read_register(POP0)], [9, 18, 27]);
        assert_eq!(interp.read_register(PEEK0), 36);
        assert_eq!(interp.read_register(ACCUM0), 27);
    }

    #[test]
    fn shift_mask_sign_and_overflow() {
        let ctrl = 4 | 2 << 5 | 7 << 10;
        let mut interp = with(0, &[(ACCUM0, 0xabcd_efff), (CTRL0, ctrl)]);
        assert_eq!(interp.read_register(PEEK0), 0xfc);
        assert_eq!(interp.read_register(0x34), 0xfc);
        assert_eq!(interp.read_register(CTRL0), ctrl | 1 << 23 | 1 << 25);
        interp.write_register(CTRL0, ctrl | SIGNED);
        assert_eq!(interp.read_register(PEEK0), 0xffff_fffc);
    }

    #[test]
    fn cross_input_cross_result_and_raw() {
        let mut interp = with(0, &[(ACCUM0, 3), (ACCUM1, 50), (BASE0, 100), (CTRL0, FULL_MASK | CROSS_INPUT)]);
        assert_eq!(interp.read_register(PEEK0), 150);
        interp.write_register(CTRL0, CROSS_RESULT);
        interp.write_register(CTRL1, FULL_MASK);
        interp.read_register(POP_FULL);
        assert_eq!(interp.read_register(ACCUM0), 50);
        interp.write_register(CTRL0, ADD_RAW | 3);
        assert_eq!((interp.read_register(PEEK0), interp.read_register(PEEK_FULL)), (150, 50));
    }

    #[test]
    fn interpolator_result_adds_both_lanes() {
        let mut interp =
            with(0, &[(ACCUM0, 0x100), (ACCUM1, 0x20), (BASE2, 0x2000_0000), (CTRL0, FULL_MASK), (CTRL1, FULL_MASK)]);
        assert_eq!(interp.read_register(PEEK_FULL), 0x2000_0120);
    }

    #[test]
    fn force_msb_shows_on_the_bus_but_not_in_the_accumulator() {
        let mut interp = with(0, &[(ACCUM0, 5), (CTRL0, FULL_MASK | 2 << 19), (CTRL1, FULL_MASK | 1 << 19)]);
        assert_eq!((interp.read_register(PEEK0), interp.read_register(PEEK1)), (0x2000_0005, 0x1000_0000));
        assert_eq!(interp.read_register(POP0), 0x2000_0005);
        assert_eq!(interp.read_register(ACCUM0), 5);
    }

    #[test]
    fn blend_unsigned_and_signed() {
        let mut interp = with(0, &[(BASE0, 500), (BASE1, 1000), (ACCUM1, 128), (CTRL0, BLEND), (CTRL1, FULL_MASK)]);
        assert_eq!((interp.read_register(PEEK1), interp.read_register(PEEK0)), (750, 128));
        interp.write_register(ACCUM1, 255);
        assert_eq!(interp.read_register(PEEK1), 998);
        interp.write_register(CTRL1, FULL_MASK | SIGNED);
        interp.write_register(BASE0, -1000i32 as u32);
        interp.write_register(BASE1, 1000);
        interp.write_register(ACCUM1, 64);
        assert_eq!(interp.read_register(PEEK1) as i32, -500);
    }

    #[test]
    fn blend_exists_on_interp0_and_clamp_on_interp1_only() {
        assert_eq!(with(1, &[(CTRL0, BLEND | CLAMP)]).read_register(CTRL0), CLAMP);
        assert_eq!(with(0, &[(CTRL0, BLEND | CLAMP)]).read_register(CTRL0), BLEND);
    }

    #[test]
    fn clamp_signed_and_unsigned() {
        let mut interp = with(1, &[(CTRL0, CLAMP | SIGNED | FULL_MASK), (BASE0, -5i32 as u32), (BASE1, 10)]);
        for (input, want) in [(-100, -5), (-5, -5), (0, 0), (10, 10), (11, 10)] {
            interp.write_register(ACCUM0, input as u32);
            assert_eq!(interp.read_register(PEEK0) as i32, want);
        }
        interp.write_register(CTRL0, CLAMP | FULL_MASK);
        interp.write_register(BASE0, 2);
        interp.write_register(ACCUM0, u32::MAX);
        assert_eq!(interp.read_register(PEEK0), 10);
    }

    #[test]
    fn base_1and0_extends_by_each_lanes_sign() {
        let mut interp = with(0, &[(CTRL1, SIGNED), (0x3c, 0xfffe_8001)]);
        assert_eq!((interp.read_register(BASE0), interp.read_register(BASE1)), (0x8001, 0xffff_fffe));
        interp.write_register(CTRL0, BLEND);
        interp.write_register(0x3c, 0xfffe_8001);
        assert_eq!(interp.read_register(BASE0), 0xffff_8001);
    }

    #[test]
    fn accumulator_add_is_24_bits_wide() {
        let mut interp = with(0, &[(ACCUM1, 1), (0x38, 0xff00_0002)]);
        assert_eq!(interp.read_register(ACCUM1), 3);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in
            [(SIGNED, 15), (CROSS_INPUT, 16), (CROSS_RESULT, 17), (ADD_RAW, 18), (BLEND, 21), (CLAMP, 22)]
        {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
