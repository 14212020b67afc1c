//! The inputs of a scenario: a board with its settings, an image, stimuli, and the way to run it.

use crate::board::{Board, Options};
use crate::boards::{create_board_of_chip, parse_pin_wire};
use rtoslab_lab::Stimulus;

use super::bytes::Bytes;
use super::image::{boot_block_checksum, build_elf_file, build_uf2_file};
use super::places::{address_near_memory_boundary, choose_fuzz_address_of_chip, memory_ranges_of_chip};
use super::program::generate_program;

/// Vectors of the table in the image. The number of vectors. No chip here has more.
const VECTORS: u32 = 176;
/// After the table: a handler that returns at once, then the program.
const STUB: u32 = 4 * VECTORS;
const CODE: u32 = STUB + 0x40;
const BX_LR: u16 = 0x4770;
const SEV: u16 = 0xbf40;
const NOP: u16 = 0xbf00;
/// The next address of an RP2040 boot block, and its length.
const BEHIND_BOOT: u32 = 0x1000_0100;
const BOOT_BLOCK: usize = 252;
/// ldr r0, =BEHIND_BOOT + CODE + 1; bx r0.
const BOOT: [u16; 2] = [0x4800, 0x4700];
/// No run is longer than this.
const LONGEST_CYCLES: u64 = 60_000;

/// A generated scenario: a program, options, stimuli and slices of a run.
pub(crate) struct GeneratedScenario {
    pub chip: &'static str,
    pub options: Options,
    /// Settings by their place in the board's list, and values that may be refused.
    settings: Vec<(usize, u64)>,
    /// The image, and whether it is UF2.
    image: Vec<u8>,
    /// The address of core 1, if it is started.
    second: Option<u32>,
    stimuli: Vec<(u64, Stimulus)>,
    typed: Vec<u8>,
    /// Length of the run.
    pub cycles: u64,
    /// Lengths of its slices, in turn.
    pub slices: Vec<u64>,
    /// Addresses of code to probe, and of words to watch.
    pub sites: Vec<u32>,
    pub words: Vec<u32>,
}

impl GeneratedScenario {
    /// Creates the scenario that the bytes encode. The rest of them is the program.
    pub fn from_bytes(chip: &'static str, bytes: &mut Bytes) -> GeneratedScenario {
        let shape = bytes.next_byte();
        let mut options = Options { strict: shape & 0x30 == 0x30, ..Options::default() };
        options.cores = if chip == "rp2040" { 1 + usize::from(shape & 1) } else { 1 };
        if chip != "rp2040" && shape & 0x40 != 0 {
            options.wires = parse_pin_wire("PA8", "PB0").into_iter().collect();
        }
        let settings = (0..bytes.next_number_below(4))
            .map(|_| (bytes.next_number_below(64), choose_fuzz_setting_value(bytes)))
            .collect();
        let cycles =
            200 + (LONGEST_CYCLES - 200) * u64::from(bytes.next_byte()) * u64::from(bytes.next_byte()) / 65_025;
        let slices = (0..1 + bytes.next_number_below(4)).map(|_| choose_run_slice_cycles(bytes)).collect();
        let base = choose_image_address(chip, shape >> 1 & 7, bytes);
        let head = Head::from_bytes(chip, base, bytes);
        let stimuli = (0..bytes.next_number_below(4)).map(|_| choose_stimulus(cycles, bytes)).collect();
        let typed = bytes.next_byte() & 7;
        let typed = bytes.next_fuzz_bytes(usize::from(typed)).to_vec();
        let second =
            (options.cores == 2 && bytes.next_fuzz_bool()).then(|| base + CODE + 2 * u32::from(bytes.next_byte()));
        let near = |bytes: &mut Bytes| base + CODE + 2 * u32::from(bytes.next_byte());
        let sites = (0..bytes.next_number_below(4)).map(|_| near(bytes)).collect();
        let words = (0..bytes.next_number_below(3))
            .map(|_| head.stack.wrapping_sub(u32::from(bytes.next_byte())) & !3)
            .collect();
        let code = generate_program(chip, !matches!(chip, "rp2040" | "stm32l053" | "stm32l073"), bytes);
        let image = head.image_file(chip, base, &code, shape & 0x80 != 0);
        GeneratedScenario { chip, options, settings, image, second, stimuli, typed, cycles, slices, sites, words }
    }

    /// Creates a board at the start of the scenario. `None` if it refuses the image.
    pub fn create_board(&self) -> Option<Box<dyn Board>> {
        let mut board = create_board_of_chip(self.chip, &self.options).expect("a known chip");
        let rules = board.timing_rules();
        for &(index, value) in &self.settings {
            let (key, rule, _) = &rules[index % rules.len()];
            let allowed = (rule.min..=rule.max).contains(&value);
            let value = if allowed { value } else { rule.min + value % (rule.max - rule.min + 1) };
            assert!(board.set_timing_rule(key, value).is_ok(), "{key} = {value}");
        }
        board.load_image(&self.image, "scenario").ok()?;
        if let Some(second) = self.second
            && board.set_register(1, "pc", second)
        {
            board.set_register(1, "sp", 0x2003_0000);
        }
        for &(cycle, stimulus) in &self.stimuli {
            let _ = board.schedule_stimulus(cycle, stimulus);
        }
        if !self.typed.is_empty() {
            board.type_into_console(0, &self.typed);
        }
        Some(board)
    }
}

/// The vector table of a generated image.
struct Head {
    stack: u32,
    entry: u32,
    vectors: [u32; 8],
}

impl Head {
    /// Creates the vector table that the scenario's bytes encode.
    fn from_bytes(chip: &str, base: u32, bytes: &mut Bytes) -> Head {
        let ram = memory_ranges_of_chip(chip)[0];
        let stack = match bytes.next_byte() % 16 {
            0 => address_near_memory_boundary(chip, bytes),
            1 => choose_fuzz_address_of_chip(chip, bytes),
            _ => ram.0 + ram.1 - 4 * u32::from(bytes.next_byte()),
        };
        let entry = match bytes.next_byte() % 16 {
            0 => address_near_memory_boundary(chip, bytes),
            1 => bytes.next_word(),
            2 => base + CODE,
            _ => base + CODE + 1,
        };
        let vectors = std::array::from_fn(|_| match bytes.next_byte() % 16 {
            0 => address_near_memory_boundary(chip, bytes),
            1 => base + STUB,
            2..=6 => base + CODE + 2 * u32::from(bytes.next_byte()) + 1,
            _ => base + STUB + 1,
        });
        Head { stack, entry, vectors }
    }

    /// Returns the image file: vectors, then code.
    fn image_file(&self, chip: &str, base: u32, code: &[u16], as_uf2: bool) -> Vec<u8> {
        let mut content: Vec<u8> = [self.stack, self.entry].iter().flat_map(|word| word.to_le_bytes()).collect();
        for number in 2..VECTORS {
            content.extend(self.vectors[number as usize % self.vectors.len()].to_le_bytes());
        }
        content.extend(BX_LR.to_le_bytes());
        content.resize(CODE as usize, 0);
        if chip == "rp2040" {
            // Nobody sets VTOR for an image of the RP2040: it does so itself. ldr r0, =VTOR; ldr r1, =base; str; b on.
            // SEV wakes core 1 from the boot ROM's wait.
            let vtor = [0xed08, 0xe000];
            let table = [[0x4801, 0x4902], [0x6001, 0xe003], vtor, [base as u16, (base >> 16) as u16], [SEV, NOP]];
            let table = table.as_flattened();
            content.extend(table.iter().flat_map(|half| half.to_le_bytes()));
        }
        content.extend(code.iter().flat_map(|half| half.to_le_bytes()));
        let mut segments = vec![(base, content)];
        if base == BEHIND_BOOT {
            segments.insert(0, (0x1000_0000, boot_block_jumping_to(base + CODE + 1)));
        }
        if chip == "rp2040" && as_uf2 {
            let pieces: Vec<(u32, Vec<u8>)> = segments
                .iter()
                .flat_map(|(at, bytes)| (*at..).step_by(256).zip(bytes.chunks(256).map(<[u8]>::to_vec)))
                .collect();
            return build_uf2_file(&pieces, 0x2000, 0xe48b_ff56);
        }
        build_elf_file(if chip == "rp2040" { base + CODE + 1 } else { self.entry }, &segments)
    }
}

/// Returns a boot block of the RP2040 that jumps to `target`.
fn boot_block_jumping_to(target: u32) -> Vec<u8> {
    let mut block: Vec<u8> = BOOT.iter().flat_map(|half| half.to_le_bytes()).collect();
    block.extend(target.to_le_bytes());
    block.resize(BOOT_BLOCK, 0);
    let sum = boot_block_checksum(&block);
    block.extend(sum.to_le_bytes());
    block
}

/// Returns the address of the image: mostly the start of flash or RAM.
fn choose_image_address(chip: &str, choice: u8, bytes: &mut Bytes) -> u32 {
    match (chip, choice) {
        ("rp2040", 0..=3) => 0x2000_0000,
        ("rp2040", 4 | 5) => BEHIND_BOOT,
        (_, 0..=3) => 0x0800_0000,
        (_, 4 | 5) => 0x2000_0000,
        _ => {
            let (base, length) = bytes.next_choice(memory_ranges_of_chip(chip));
            base + (u32::from(bytes.next_halfword()) << 4) % length
        }
    }
}

/// Returns a value for a setting, mostly small.
fn choose_fuzz_setting_value(bytes: &mut Bytes) -> u64 {
    if bytes.next_fuzz_bool() { u64::from(bytes.next_byte()) } else { bytes.next_random_number() }
}

/// Returns the cycles of one slice of a run.
fn choose_run_slice_cycles(bytes: &mut Bytes) -> u64 {
    match bytes.next_byte() % 4 {
        0 => 1 + u64::from(bytes.next_byte() % 16),
        1 | 2 => 1 + u64::from(bytes.next_byte()),
        _ => 1 + u64::from(bytes.next_halfword()),
    }
}

/// Returns a stimulus and its cycle, below `cycles`.
fn choose_stimulus(cycles: u64, bytes: &mut Bytes) -> (u64, Stimulus) {
    let cycle = cycles * u64::from(bytes.next_halfword()) / 65_536;
    let number = u32::from(bytes.next_byte());
    let stimulus = if bytes.next_fuzz_bool() {
        Stimulus::Pin { pin: number as u16, level: bytes.next_fuzz_bool() }
    } else {
        let numbers = [2, 14, 15, 16 + number % 32];
        Stimulus::Exception { core: usize::from(bytes.next_fuzz_bool()), number: bytes.next_choice(&numbers) }
    };
    (cycle, stimulus)
}
