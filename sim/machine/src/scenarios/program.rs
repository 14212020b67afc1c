//! Programs out of bytes: Thumb code that mostly makes sense, with what does not in between.

use super::bytes::Bytes;
use super::places::choose_fuzz_address_of_chip;

/// Longest program in halfwords.
const MOST: usize = 700;
const NOP: u16 = 0xbf00;
/// A branch to itself.
const STAY: u16 = 0xe7fe;

/// Returns a generated program for a chip, as halfwords. `full`: its core has all of ARMv7-M.
pub(crate) fn generate_program(chip: &str, full: bool, bytes: &mut Bytes) -> Vec<u16> {
    let mut code = Vec::new();
    let mut loops = Vec::new();
    while !bytes.is_empty() && code.len() < MOST {
        append_fuzz_program_step(chip, full, bytes, &mut code, &mut loops);
        count_step_of_innermost_loop(&mut code, &mut loops);
    }
    while let Some(open) = loops.pop() {
        append_loop_end(&mut code, open);
    }
    code.push(STAY);
    code
}

/// A counted loop in a generated program: where its body begins, how many steps are still in it, its counter.
struct FuzzProgramLoop {
    start: usize,
    steps: u8,
    register: u16,
}

/// Counts a step of the innermost loop, and ends the loop after its last one.
fn count_step_of_innermost_loop(code: &mut Vec<u16>, loops: &mut Vec<FuzzProgramLoop>) {
    if let Some(open) = loops.last_mut() {
        if open.steps == 0 {
            let open = loops.pop().expect("just seen");
            append_loop_end(code, open);
        } else {
            open.steps -= 1;
        }
    }
}

/// Appends the end of a loop: a decrement and a branch.
fn append_loop_end(code: &mut Vec<u16>, open: FuzzProgramLoop) {
    // subs; bne back to the body.
    code.push(0x3801 | open.register << 8);
    let distance = open.start as i32 - code.len() as i32 - 2;
    if distance >= -128 {
        code.push(0xd100 | (distance & 0xff) as u16);
    } else {
        // beq over; b back.
        code.push(0xd000);
        let distance = open.start as i32 - code.len() as i32 - 2;
        code.push(0xe000 | (distance & 0x7ff) as u16);
    }
}

/// Appends `ldr register, =value`, with the constant in the code.
pub(crate) fn append_constant_load(code: &mut Vec<u16>, register: u16, value: u32) {
    if !code.len().is_multiple_of(2) {
        code.push(NOP);
    }
    code.extend([0x4800 | register << 8, 0xe001, value as u16, (value >> 16) as u16]);
}

/// Appends one step of a program.
fn append_fuzz_program_step(
    chip: &str,
    full: bool,
    bytes: &mut Bytes,
    code: &mut Vec<u16>,
    loops: &mut Vec<FuzzProgramLoop>,
) {
    let kind = bytes.next_byte();
    let low = |bytes: &mut Bytes| u16::from(bytes.next_byte() & 7);
    match kind % 32 {
        0..=2 => {
            let (register, place) = (low(bytes), choose_fuzz_address_of_chip(chip, bytes));
            append_constant_load(code, register, place);
        }
        3 => {
            let (register, value) = (low(bytes), bytes.next_word());
            append_constant_load(code, register, value);
        }
        // A register of some block is written, and one is read.
        4..=7 => {
            let place = choose_fuzz_address_of_chip(chip, bytes);
            let value = if bytes.next_fuzz_bool() {
                u32::from(bytes.next_byte()) << (bytes.next_byte() & 31)
            } else {
                bytes.next_word()
            };
            append_constant_load(code, 0, place);
            append_constant_load(code, 1, value);
            code.push([0x6001, 0x8001, 0x7001, 0x6041][bytes.next_number_below(4)]);
        }
        8 | 9 => {
            let place = choose_fuzz_address_of_chip(chip, bytes);
            append_constant_load(code, 0, place);
            code.push([0x6802, 0x8802, 0x7802, 0x6842][bytes.next_number_below(4)]);
        }
        10 => code.push(0x6000 | bytes.next_halfword() & 0x1fff),
        11 => code.push(0x5000 | bytes.next_halfword() & 0x0fff),
        12 => code.push(0x8000 | bytes.next_halfword() & 0x1fff),
        13 => {
            // A short branch, mostly forward.
            let distance = u16::from(bytes.next_byte() % 12);
            code.push(0xd000 | u16::from(bytes.next_byte() % 14) << 8 | distance);
        }
        14 => code.push(if bytes.next_fuzz_bool() {
            0xe000 | u16::from(bytes.next_byte() % 16)
        } else {
            0xe7f0 | low(bytes)
        }),
        15 => code.push([0xb400, 0xbc00][bytes.next_number_below(2)] | bytes.next_halfword() & 0x1ff),
        16 => code.push(0xc000 | bytes.next_halfword() & 0x0fff),
        17 => code.push([0xbf30, 0xbf20, 0xbf40, 0xbf10, NOP][bytes.next_number_below(5)]),
        18 => code.push([0xb662, 0xb672, 0xb661, 0xb671][bytes.next_number_below(4)]),
        19 => code.push([0xdf00, 0xbe00, 0xde00][bytes.next_number_below(3)] | u16::from(bytes.next_byte())),
        20 => {
            let register = u16::from(bytes.next_byte() & 15);
            let special = bytes.next_choice::<u16>(&[0, 3, 5, 8, 9, 16, 17, 18, 19, 20]);
            if bytes.next_fuzz_bool() {
                code.extend([0xf380 | register, 0x8800 | special]);
            } else {
                code.extend([0xf3ef, 0x8000 | register << 8 | special]);
            }
        }
        21 => code.push(0x4700 | u16::from(bytes.next_byte() & 0xf8)),
        22 => code.push(0x4000 | bytes.next_halfword() & 0x07ff),
        23 | 24 => code.push(bytes.next_halfword() & 0x3fff),
        25 => code.push(
            [0xa000, 0xa800, 0xb000, 0xb200, 0xba00, 0x9000, 0x9800][bytes.next_number_below(7)]
                | u16::from(bytes.next_byte()),
        ),
        26 => append_call(bytes, code),
        27 | 28 => {
            if loops.len() < 3 && code.len() < MOST - 100 {
                let register = 7 - loops.len() as u16;
                code.push(0x2000 | register << 8 | u16::from(bytes.next_byte()));
                let start = code.len();
                loops.push(FuzzProgramLoop { start, steps: 1 + bytes.next_byte() % 12, register });
            }
        }
        29 if full => code.extend([0xe800 | bytes.next_halfword() & 0x1fff, bytes.next_halfword()]),
        30 if full => append_wide_instruction(bytes, code),
        31 if full => code.push(0xbf00 | u16::from(bytes.next_byte())),
        _ => code.push(bytes.next_halfword()),
    }
}

/// Appends a call to an address in the program so far, or shortly after it.
fn append_call(bytes: &mut Bytes, code: &mut Vec<u16>) {
    let back = i32::from(bytes.next_byte() % 64).min(code.len() as i32);
    let distance = if bytes.next_fuzz_bool() { -back - 2 } else { i32::from(bytes.next_byte() % 16) };
    code.extend([0xf000 | (distance >> 11 & 0x7ff) as u16, 0xf800 | (distance & 0x7ff) as u16]);
}

/// Appends a 32-bit instruction: loads, stores, multiples, exclusives, table branches, divisions, floating point.
fn append_wide_instruction(bytes: &mut Bytes, code: &mut Vec<u16>) {
    const FIRST: [u16; 12] =
        [0xe850, 0xe8d0, 0xe8b0, 0xe890, 0xe920, 0xf850, 0xf8d0, 0xfb90, 0xed90, 0xed80, 0xee30, 0xeeb0];
    let first = bytes.next_choice(&FIRST) | u16::from(bytes.next_byte() & 0x2f);
    code.extend([first, bytes.next_halfword()]);
}
