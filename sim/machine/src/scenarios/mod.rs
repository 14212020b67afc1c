//! Scenarios: any bytes are a board, an image, settings and stimuli, and a way to run them. The board must answer to
//! any input, and answer the same however it is run: in one piece, in slices, observed, profiled, probed, from a
//! snapshot, with or without cached timing. The fuzzer (`sim/fuzz`, `make fuzz`) makes the bytes. Its findings and its
//! corpus are stored there and replayed by a test.

mod bytes;
pub(crate) mod image;
mod places;
pub(crate) mod program;
mod raw;
mod setup;
mod variants;

use bytes::Bytes;

/// The chips, in the order in which a scenario's first byte chooses them.
pub const CHIPS: [&str; 9] =
    ["rp2040", "stm32l053", "stm32l073", "stm32f103", "stm32f407", "stm32f411", "stm32f446", "stm32f767", "stm32h743"];

/// Runs the scenario (program, options and stimuli) that the fuzzer's bytes encode in several ways, such as with and
/// without timing cache. Panics if the outcomes differ, and says how.
pub fn check_fuzz_scenario(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let kind = bytes.next_byte();
    let chip = CHIPS[usize::from(bytes.next_byte()) % CHIPS.len()];
    match kind % 8 {
        0 => raw::run_random_elf(chip, &mut bytes),
        1 => raw::run_random_uf2(chip, &mut bytes),
        2 => raw::run_bytes_as_image(chip, &mut bytes),
        3 => raw::call_board_methods_with_fuzz_input(chip, &mut bytes),
        _ => variants::compare_scenario_run_variants(&setup::GeneratedScenario::from_bytes(chip, &mut bytes)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The fuzzer's folders: failures that it found, and a corpus that reaches what it reached.
    const FOLDERS: [&str; 2] = ["../fuzz/found", "../fuzz/corpus"];

    #[test]
    fn fuzzer_corpus_passes() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = FOLDERS.iter().flat_map(|folder| here.join(folder).read_dir().expect("a folder of scenarios"));
        let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        assert!(paths.len() > 100, "only {} scenarios", paths.len());
        paths.sort();
        for path in paths {
            // Seen where a scenario fails.
            println!("{}", path.display());
            super::check_fuzz_scenario(&std::fs::read(&path).expect("a scenario"));
        }
    }

    /// Every kind with every chip.
    #[test]
    fn empty_fuzz_scenario_passes() {
        super::check_fuzz_scenario(&[]);
        (0..8 * super::CHIPS.len() as u8).for_each(|byte| super::check_fuzz_scenario(&[byte, byte]));
    }
}
