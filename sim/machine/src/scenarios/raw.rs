//! Loaders and single calls: whatever is given, there is an answer.

use crate::board::{Board, Options};
use crate::boards::{board_from_snapshot, create_board_of_chip};
use rtoslab_lab::Stimulus;

use super::bytes::Bytes;
use super::image::{build_elf_file, build_uf2_file};
use super::places::{address_near_memory_boundary, choose_fuzz_address_of_chip, memory_ranges_of_chip};

const CYCLES: u64 = 2_000;

/// Creates a board with default options.
fn create_board_with_default_options(chip: &str) -> Box<dyn Board> {
    create_board_of_chip(chip, &Options::default()).expect("a known chip")
}

/// Loads an image twice and runs what was accepted, in one piece and in slices.
fn check_image_load_and_run(chip: &str, image: &[u8]) {
    let mut states = Vec::new();
    for slice in [CYCLES, 7] {
        let mut board = create_board_with_default_options(chip);
        if let Err(error) = board.load_image(image, "image") {
            assert!(error.0.starts_with("image ") && error.0.contains("; "), "{error}");
            return;
        }
        let mut end = None;
        while board.current_cycle() < CYCLES {
            let stop = board.run_cycles(slice.min(CYCLES - board.current_cycle()));
            let name = stop.reason.result_name();
            end = Some((name, stop.cycle));
            if name != "cycles" {
                break;
            }
        }
        states.push((end, board.current_cycle(), board.core_registers(0), board.warnings()));
    }
    assert_eq!(states[0], states[1], "in slices");
}

/// Returns an ELF file with segments anywhere, of any length, and some bytes changed.
pub(crate) fn random_elf_image(chip: &str, bytes: &mut Bytes) -> Vec<u8> {
    let segments: Vec<(u32, Vec<u8>)> = (0..bytes.next_number_below(5))
        .map(|_| {
            let at = if bytes.next_fuzz_bool() {
                memory_ranges_of_chip(chip)[bytes.next_number_below(2)].0
            } else {
                address_near_memory_boundary(chip, bytes)
            };
            let most = usize::from(bytes.next_byte());
            (at, bytes.next_fuzz_bytes(most).to_vec())
        })
        .collect();
    let mut image = build_elf_file(choose_fuzz_address_of_chip(chip, bytes), &segments);
    for _ in 0..bytes.next_number_below(6) {
        let at = usize::from(bytes.next_halfword()) % image.len();
        image[at] = bytes.next_byte();
    }
    image
}

/// Loads and runs an ELF file with any content.
pub(crate) fn run_random_elf(chip: &str, bytes: &mut Bytes) {
    check_image_load_and_run(chip, &random_elf_image(chip, bytes));
}

/// Loads and runs a UF2 file with blocks anywhere, any flags and family, some bytes changed, perhaps cut.
pub(crate) fn run_random_uf2(chip: &str, bytes: &mut Bytes) {
    let pieces: Vec<(u32, Vec<u8>)> = (0..bytes.next_number_below(5))
        .map(|_| {
            let at = if bytes.next_fuzz_bool() {
                memory_ranges_of_chip(chip)[bytes.next_number_below(2)].0
            } else {
                address_near_memory_boundary(chip, bytes)
            };
            let most = usize::from(bytes.next_halfword() % 500);
            (at, bytes.next_fuzz_bytes(most).to_vec())
        })
        .collect();
    let (flags, family) = (bytes.next_choice(&[0, 0x2000, 1, 0xffff]), bytes.next_choice(&[0xe48b_ff56, 0]));
    let mut image = build_uf2_file(&pieces, flags, family);
    for _ in 0..bytes.next_number_below(4) {
        let at = usize::from(bytes.next_halfword()) % image.len().max(1);
        let value = bytes.next_byte();
        image.get_mut(at).into_iter().for_each(|byte| *byte = value);
    }
    if bytes.next_byte().is_multiple_of(8) {
        image.truncate(usize::from(bytes.next_halfword()));
    }
    check_image_load_and_run(chip, &image);
}

/// Loads and runs the bytes themselves as an image file.
pub(crate) fn run_bytes_as_image(chip: &str, bytes: &mut Bytes) {
    let image = bytes.next_fuzz_bytes(usize::MAX).to_vec();
    check_image_load_and_run(chip, &image);
}

/// Calls a board's methods with any arguments, in any order.
pub(crate) fn call_board_methods_with_fuzz_input(chip: &str, bytes: &mut Bytes) {
    let options = Options {
        crystal_hz: if bytes.next_fuzz_bool() { bytes.next_random_number() } else { 0 },
        ..Options::default()
    };
    let Ok(mut one) = create_board_of_chip(chip, &options) else { return };
    let mut snapshot = one.take_snapshot();
    while !bytes.is_empty() {
        let place = choose_fuzz_address_of_chip(chip, bytes);
        match bytes.next_byte() % 20 {
            0 => drop(one.read_memory(place, bytes.next_random_number() as usize)),
            1 => drop(one.write_memory(place, &vec![bytes.next_byte(); usize::from(bytes.next_byte())])),
            2 => drop(one.is_executable(place)),
            3 => {
                let name = bytes.next_choice(&["r0", "r15", "sp", "lr", "pc", "apsr", "s0", "s99", "r", "xpsr", ""]);
                one.set_register(0, name, place);
            }
            4 => {
                let rules = one.timing_rules();
                let key = &rules[bytes.next_number_below(rules.len())].0;
                let _ = one.set_timing_rule(key, bytes.next_random_number());
            }
            5 | 6 => {
                let stimulus = if bytes.next_fuzz_bool() {
                    Stimulus::Pin { pin: bytes.next_halfword(), level: bytes.next_fuzz_bool() }
                } else {
                    Stimulus::Exception { core: bytes.next_number_below(3), number: bytes.next_random_number() as u32 }
                };
                let _ = one.schedule_stimulus(bytes.next_random_number(), stimulus);
            }
            7 => drop(one.record_writes(place, 1, bytes.next_fuzz_bool())),
            8 if one.is_executable(place) => one.record_executions(place, 2),
            9 if one.is_executable(place) => one.stop_before_address(place),
            10 => one.set_profiling(bytes.next_fuzz_bool()),
            11 => one.set_observation(bytes.next_fuzz_bool().then(Default::default)),
            12 => drop(one.take_observations()),
            13 => snapshot = one.take_snapshot(),
            14 => assert!(one.restore_snapshot(&snapshot)),
            15 => one = board_from_snapshot(chip, &options, &snapshot).expect("the same board"),
            16 => one.type_into_console(0, &[bytes.next_byte()]),
            17 => one.reset_stats(),
            18 => drop(one.load_image(&random_elf_image(chip, bytes), "image")),
            _ => drop(one.run_cycles(bytes.next_random_number() % 3_000)),
        }
        let _ = (
            one.core_stats(0),
            one.core_position(0),
            one.core_registers(0),
            one.take_events(),
            one.warnings(),
            one.clock_hz(),
        );
    }
}
