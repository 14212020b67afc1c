//! The code of a loop that waits for a register: what it may be made of, so that its repetitions are all alike.
//!
//! Read from the opcodes alone, which ARMv6-M and ARMv7-M have in common as far as such loops need them.

/// Most opcodes of such a loop.
const MOST_OPCODES: usize = 16;
const LINK_AND_ABOVE: u32 = 14;

/// The operand with which a register is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A constant.
    Constant(u32),
    /// Another register.
    Register(usize),
}

/// A register that counts down or up by one in each repetition and is only compared: a limit of the busy wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusyWaitCounter {
    /// Its number.
    pub register: usize,
    /// It counts up.
    pub up: bool,
    /// The values that it is compared with.
    pub limits: Vec<Operand>,
}

/// The body of a polling loop: code that reads one peripheral register, copies and compares core registers, and
/// branches back to its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Address of its first opcode.
    pub start: u32,
    /// After its last one.
    pub end: u32,
    /// After the one that reads the register.
    pub behind_load: u32,
    /// How many opcodes it has.
    pub instructions: u64,
    /// If it has one.
    pub counter: Option<BusyWaitCounter>,
}

/// The kind of an opcode in a polling loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Core registers and flags only. Those that it reads and writes, a bit each.
    Plain { reads: u16, writes: u16 },
    /// A load whose address and result are in these.
    Load { reads: u16, writes: u16 },
    /// A register more or less one.
    Count { register: u32, up: bool },
    /// Flags of a register less something.
    Compare { register: u32, with: Operand },
    /// A branch, one that is always taken or not.
    Branch { target: u32, always: bool },
    /// The same, taken if a register is zero, or is not.
    TestedBranch { target: u32, register: u32 },
}

/// An opcode of a polling loop: its kind, and its length in bytes.
type DecodedLoop = (Kind, u32);

/// Returns the bit of a register in a mask.
const fn register_mask_bit(register: u32) -> u16 {
    1 << register
}

/// Returns the kind of an opcode that only reads and writes registers, by their masks.
fn op_kind_from_register_masks(reads: u16, writes: u16) -> Kind {
    Kind::Plain { reads, writes }
}

/// Decodes the opcode at an address, if a polling loop may contain it. `code` returns a halfword.
fn decode_polling_loop_opcode(address: u32, code: &impl Fn(u32) -> Option<u16>) -> Option<DecodedLoop> {
    let h = u32::from(code(address)?);
    if h >> 11 >= 0b11101 {
        return Some((decode_32_bit_loop_opcode(h, u32::from(code(address + 2)?))?, 4));
    }
    Some((decode_16_bit_loop_opcode(h, address)?, 2))
}

/// Decodes a 16-bit opcode, if a polling loop may contain it.
fn decode_16_bit_loop_opcode(h: u32, address: u32) -> Option<Kind> {
    let (r0, r3, r6, r8) = (h & 7, h >> 3 & 7, h >> 6 & 7, h >> 8 & 7);
    let target = |distance: u32| address.wrapping_add(4).wrapping_add(distance);
    Some(match h >> 11 {
        0b00000..=0b00010 => op_kind_from_register_masks(register_mask_bit(r3), register_mask_bit(r0)),
        0b00011 => match h >> 9 & 3 {
            0 | 1 => op_kind_from_register_masks(register_mask_bit(r3) | register_mask_bit(r6), register_mask_bit(r0)),
            each if r0 == r3 && r6 == 1 => Kind::Count { register: r0, up: each == 2 },
            _ => op_kind_from_register_masks(register_mask_bit(r3), register_mask_bit(r0)),
        },
        0b00100 => op_kind_from_register_masks(0, register_mask_bit(r8)),
        0b00101 => Kind::Compare { register: r8, with: Operand::Constant(h & 0xff) },
        0b00110 | 0b00111 if h & 0xff == 1 => Kind::Count { register: r8, up: h >> 11 & 1 == 0 },
        0b00110 | 0b00111 => op_kind_from_register_masks(register_mask_bit(r8), register_mask_bit(r8)),
        0b01000 if h & 0x400 == 0 => match h >> 6 & 15 {
            10 => Kind::Compare { register: r0, with: Operand::Register(r3 as usize) },
            8 | 11 => op_kind_from_register_masks(register_mask_bit(r0) | register_mask_bit(r3), 0),
            _ => op_kind_from_register_masks(register_mask_bit(r0) | register_mask_bit(r3), register_mask_bit(r0)),
        },
        0b01000 => {
            let (rd, rm) = (h & 7 | h >> 4 & 8, h >> 3 & 15);
            if h >> 8 & 3 == 3 || rd == 15 || rm == 15 {
                return None;
            }
            match h >> 8 & 3 {
                1 => Kind::Compare { register: rd, with: Operand::Register(rm as usize) },
                _ => op_kind_from_register_masks(register_mask_bit(rd) | register_mask_bit(rm), register_mask_bit(rd)),
            }
        }
        // A constant after the code.
        0b01001 => op_kind_from_register_masks(0, register_mask_bit(r8)),
        0b01010 | 0b01011 if h >> 9 & 7 >= 3 => {
            Kind::Load { reads: register_mask_bit(r3) | register_mask_bit(r6), writes: register_mask_bit(r0) }
        }
        0b01101 | 0b01111 | 0b10001 => Kind::Load { reads: register_mask_bit(r3), writes: register_mask_bit(r0) },
        0b10110 | 0b10111 => match h >> 8 & 15 {
            // SXTH to UXTB. REV, REV16, REVSH.
            2 => op_kind_from_register_masks(register_mask_bit(r3), register_mask_bit(r0)),
            10 if h >> 6 & 3 != 2 => op_kind_from_register_masks(register_mask_bit(r3), register_mask_bit(r0)),
            // CBZ, CBNZ.
            1 | 3 | 9 | 11 => {
                Kind::TestedBranch { target: target((h >> 3 & 31) << 1 | (h >> 9 & 1) << 6), register: r0 }
            }
            // NOP, YIELD.
            15 if h & 0xff == 0 || h & 0xff == 0x10 => op_kind_from_register_masks(0, 0),
            _ => return None,
        },
        0b11010 | 0b11011 if h >> 8 & 15 < LINK_AND_ABOVE => {
            Kind::Branch { target: target(((h << 24) as i32 >> 23) as u32), always: false }
        }
        0b11100 => Kind::Branch { target: target(((h << 21) as i32 >> 20) as u32), always: true },
        _ => return None,
    })
}

/// Decodes a 32-bit opcode, if a polling loop may contain it: LDR, LDRB and LDRH with an offset of 12 bits, AND and TST
/// with a constant.
fn decode_32_bit_loop_opcode(first: u32, second: u32) -> Option<Kind> {
    let (base, top, rd) = (first & 15, second >> 12, second >> 8 & 15);
    match first >> 4 {
        0xf8d | 0xf89 | 0xf8b if top < LINK_AND_ABOVE && base != 15 => {
            Some(Kind::Load { reads: register_mask_bit(base), writes: register_mask_bit(top) })
        }
        0xf00 | 0xf01 | 0xf40 | 0xf41 if second & 0x8000 == 0 && base < LINK_AND_ABOVE => match rd {
            15 if first >> 4 & 1 != 0 => Some(op_kind_from_register_masks(register_mask_bit(base), 0)),
            0..=13 => Some(op_kind_from_register_masks(register_mask_bit(base), register_mask_bit(rd))),
            _ => None,
        },
        _ => None,
    }
}

/// Collects the opcodes from `at` to `end`, or to the first branch to `load` or to an address before it. Returns the
/// address after them, and the branch's target. `None` if a polling loop cannot contain one of them.
fn opcodes_before_branch(
    opcodes: &mut Vec<Kind>,
    mut at: u32,
    end: Option<u32>,
    load: u32,
    code: &impl Fn(u32) -> Option<u16>,
) -> Option<(u32, u32)> {
    while end.is_none_or(|end| at < end) {
        let (kind, length) = decode_polling_loop_opcode(at, code)?;
        at += length;
        opcodes.push(kind);
        match kind {
            Kind::Branch { target, .. } if end.is_none() && target <= load => return Some((at, target)),
            Kind::Branch { always: true, .. } | Kind::Load { .. } => return None,
            _ if opcodes.len() > MOST_OPCODES => return None,
            _ => {}
        }
    }
    Some((at, at))
}

/// Returns the body of the polling loop that contains the load at the address `load`. `None` if it is in no such loop.
/// `code` returns the halfword of code at an address.
pub fn find_polling_loop_of_load(load: u32, code: impl Fn(u32) -> Option<u16>) -> Option<Body> {
    let (kind @ Kind::Load { .. }, length) = decode_polling_loop_opcode(load, &code)? else { return None };
    let (mut opcodes, behind_load) = (vec![kind], load + length);
    // From there to the branch back, and from where it leads to the load.
    let (end, start) = opcodes_before_branch(&mut opcodes, behind_load, None, load, &code)?;
    opcodes.pop();
    let (back, _) = opcodes_before_branch(&mut opcodes, start, Some(load), load, &code)?;
    let leads_out = |kind: &Kind| match kind {
        Kind::Branch { target, .. } | Kind::TestedBranch { target, .. } => !(start..end).contains(target),
        _ => true,
    };
    if back != load || !opcodes.iter().all(leads_out) {
        return None;
    }
    let counter = repetition_counter_register(&opcodes)?;
    Some(Body { start, end, behind_load, instructions: opcodes.len() as u64 + 1, counter })
}

/// Returns the register that counts the repetitions of a polling loop, or `Some(None)` if there is none. `None`, so
/// that the loop is not skipped, if the register is also used otherwise, or if there are two.
fn repetition_counter_register(opcodes: &[Kind]) -> Option<Option<BusyWaitCounter>> {
    let mut counting = opcodes.iter().filter_map(|kind| match kind {
        Kind::Count { register, up } => Some((*register, *up)),
        _ => None,
    });
    let Some((register, up)) = counting.next() else { return Some(None) };
    let (mine, mut limits) = (Operand::Register(register as usize), Vec::new());
    for kind in opcodes {
        match *kind {
            Kind::Plain { reads, writes } | Kind::Load { reads, writes }
                if (reads | writes) & register_mask_bit(register) != 0 =>
            {
                return None;
            }
            Kind::Compare { register: first, with } if first == register => limits.push(with),
            Kind::Compare { register: first, with } if with == mine => limits.push(Operand::Register(first as usize)),
            _ => {}
        }
    }
    counting.next().is_none().then_some(Some(BusyWaitCounter { register: register as usize, up, limits }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(start: u32, load: u32, code: &[u16]) -> Option<Body> {
        find_polling_loop_of_load(load, |address| code.get(((address - start) / 2) as usize).copied())
    }

    #[test]
    fn busy_wait_with_limit_is_detected() {
        // subs r3,#1; cmp r3,#0; beq out; ldr r2,[r1,#0]; tst r4,r2; bne back
        let code = [0x3b01, 0x2b00, 0xd003, 0x680a, 0x4214, 0xd1f9, 0xbf00];
        let loop_body = body(0x100, 0x106, &code).expect("a loop");
        let counter = Some(BusyWaitCounter { register: 3, up: false, limits: vec![Operand::Constant(0)] });
        let expected = Body { start: 0x100, end: 0x10c, behind_load: 0x108, instructions: 6, counter };
        assert_eq!(loop_body, expected);
    }

    #[test]
    fn busy_wait_limit_may_be_register() {
        // cmp r3,r4; beq out; ldr.w r2,[r1,#0x81c]; adds r3,#1; lsls r2,r2,#24; bpl back
        let code = [0x42a3, 0xd004, 0xf8d1, 0x281c, 0x3301, 0x0612, 0xd5f8];
        let loop_body = body(0x100, 0x104, &code).expect("a loop");
        let counter = BusyWaitCounter { register: 3, up: true, limits: vec![Operand::Register(4)] };
        assert_eq!((loop_body.counter, loop_body.instructions), (Some(counter), 6));
        // cmp r4,r3 likewise.
        let loop_body = body(0x100, 0x104, &[0x429c, 0xd004, 0xf8d1, 0x281c, 0x3301, 0x0612, 0xd5f8]).expect("a loop");
        assert_eq!(loop_body.counter.map(|counter| counter.limits), Some(vec![Operand::Register(4)]));
    }

    #[test]
    fn busy_wait_without_limit_is_detected() {
        // ldr.w r2,[r1,#1024]; lsls r2,r2,#24; bpl back
        let code = [0xf8d1, 0x2400, 0x0612, 0xd5fb];
        let loop_body = body(0x200, 0x200, &code).expect("a loop");
        let expected = Body { start: 0x200, end: 0x208, behind_load: 0x204, instructions: 3, counter: None };
        assert_eq!(loop_body, expected);
        // ldr r2,[r1]; cbnz r2,out; b back
        let loop_body = body(0x200, 0x200, &[0x680a, 0xb90a, 0xe7fc]).expect("a loop");
        assert_eq!((loop_body.instructions, loop_body.counter, loop_body.end), (3, None, 0x206));
    }

    #[test]
    fn loop_that_does_more_than_wait_is_not_a_wait() {
        let cases: &[(&str, &[u16])] = &[
            ("a store", &[0x680a, 0x6002, 0x4214, 0xd1fb]),
            ("a second load", &[0x680a, 0x6803, 0x4214, 0xd1fb]),
            ("a call", &[0x680a, 0xf000, 0xf800, 0x4214, 0xd1fa]),
            ("a branch inside", &[0x680a, 0xd100, 0xbf00, 0x4214, 0xd1fa]),
            ("the counter is used", &[0x680a, 0x3b01, 0x441a, 0x4214, 0xd1fa]),
            ("two counters", &[0x680a, 0x3b01, 0x3c01, 0x4212, 0xd1fa]),
            ("sleep", &[0x680a, 0xbf20, 0x4214, 0xd1fb]),
            ("SVC", &[0x680a, 0xdf00, 0x4214, 0xd1fb]),
            ("an IT block", &[0x680a, 0xbf08, 0x4214, 0xd1fb]),
            ("return", &[0x680a, 0x4770, 0x4214, 0xd1fb]),
            ("no end", &[0x680a; 1]),
            ("no load", &[0xbf00, 0x4214, 0xd1fc]),
        ];
        for (what, code) in cases {
            assert_eq!(body(0x100, 0x100, code), None, "{what}");
        }
        let long: Vec<u16> = [0x680a].into_iter().chain([0xbf00; 40]).chain([0xe7d5]).collect();
        assert_eq!(body(0x100, 0x100, &long), None);
    }

    /// Every halfword, as a second opcode of a loop: what is taken for plain touches no memory and does not leave.
    #[test]
    fn opcodes_that_store_or_branch_are_not_plain() {
        for opcode in 0..=u16::MAX {
            let h = u32::from(opcode);
            let stores = matches!(h >> 11, 0b01100 | 0b01110 | 0b10000 | 0b10010 | 0b11000)
                || h >> 12 == 5 && h >> 9 & 7 < 3
                || h >> 9 == 0b1011010;
            let leaves = h >> 8 == 0x47 || h >> 8 == 0xde || h >> 8 == 0xdf || h >> 9 == 0b1011110;
            if stores || leaves {
                assert_eq!(decode_16_bit_loop_opcode(h, 0), None, "{opcode:#06x}");
            }
        }
    }
}
