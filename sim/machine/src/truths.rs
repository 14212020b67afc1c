//! Tests of the warnings for firmware that goes astray, sleeps for good, or uses unmodelled features.

use rtoslab_lab::Kind;
use rtoslab_periph::rp2040::limits::{FOUND_BY_BLOCKS, LIMITS, Limit};
use rtoslab_periph::stm32::unsupported;

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;
use crate::observe::ObservationRequest;
use crate::scenarios::CHIPS;
use crate::scenarios::image::build_elf_file;
use crate::scenarios::program::append_constant_load;
use crate::stop::StopReason;

const SRAM: u32 = 0x2000_0000;
const FLASH: u32 = 0x0800_0000;
const STAY: u16 = 0xe7fe;
const WFI: u16 = 0xbf30;
const ADDS_R0: u16 = 0x3001;
const CYCLES: u64 = 20_000;
/// After the vectors of any chip.
const CODE: u32 = 0x400;

/// Returns halfwords as little-endian bytes.
fn halfwords_to_bytes(halfwords: &[u16]) -> Vec<u8> {
    halfwords.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// Creates a board that begins to execute `code`. On an STM32 the vector table says `stack`, `entry` (none: the code)
/// and `handler` for all else.
fn start_board_with_code(chip: &str, strict: bool, entry: Option<u32>, handler: u32, code: &[u16]) -> Box<dyn Board> {
    let mut board = create_board_of_chip(chip, &Options { strict, ..Options::default() }).expect("a chip");
    let image = if chip == "rp2040" {
        build_elf_file(SRAM + 1, &[(SRAM, halfwords_to_bytes(code))])
    } else {
        let mut words = vec![handler; CODE as usize / 4];
        (words[0], words[1]) = (SRAM + 0x1000, entry.unwrap_or(FLASH + CODE + 1));
        let mut content: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        content.extend(halfwords_to_bytes(code));
        build_elf_file(FLASH + CODE + 1, &[(FLASH, content)])
    };
    board.load_image(&image, "test.elf").expect("an image");
    board
}

/// Returns code that makes these accesses: address, and the value of a write. Then it loops.
fn generate_code_with_memory_accesses(accesses: &[(u32, Option<u32>)]) -> Vec<u16> {
    let mut code = Vec::new();
    for &(address, value) in accesses {
        append_constant_load(&mut code, 0, address);
        if let Some(value) = value {
            append_constant_load(&mut code, 1, value);
        }
        code.push(if value.is_some() { 0x6001 } else { 0x6801 });
    }
    code.push(STAY);
    code
}

/// Checks that the code warns once with a sentence that begins with `about`, and that a strict board stops there.
fn assert_warns_once(chip: &str, accesses: &[(u32, Option<u32>)], about: &str) {
    let twice = accesses.repeat(2);
    let mut plain = start_board_with_code(chip, false, None, 0, &generate_code_with_memory_accesses(&twice));
    assert_eq!(plain.run_cycles(CYCLES).reason, StopReason::Cycles, "{chip} {about}: {:?}", plain.warnings());
    let count = plain.warnings().iter().filter(|warning| warning.contains(about)).count();
    assert_eq!(count, 1, "{chip} {about}: {:?}", plain.warnings());
    let mut strict = start_board_with_code(chip, true, None, 0, &generate_code_with_memory_accesses(&twice));
    let stop = strict.run_cycles(CYCLES);
    assert!(stop.reason == StopReason::Strict && stop.detail.contains(about), "{chip} {about}: {stop:?}");
}

#[test]
fn every_rp2040_limit_warns_once_and_stops_a_strict_run() {
    const RELEASE: (u32, Option<u32>) = (0x4000_c000, Some(0));
    for Limit { about, example, .. } in LIMITS.iter().chain(FOUND_BY_BLOCKS) {
        let accesses: Vec<_> = std::iter::once(&RELEASE).chain(*example).copied().collect();
        assert_warns_once("rp2040", &accesses, about);
    }
}

#[test]
fn missing_core_features_warn_once_and_stop_a_strict_run() {
    for chip in ["rp2040", "stm32l053", "stm32l073"] {
        assert_warns_once(chip, &[(0xe000_ed94, Some(1))], "MPU enforcement");
        assert_warns_once(chip, &[(0xe000_1000, None)], "debug unit");
    }
    for chip in &CHIPS[1..] {
        let mut code = generate_code_with_memory_accesses(&[(0xe000_ed10, Some(4))]);
        code.insert(code.len() - 1, WFI);
        for strict in [false, true] {
            let mut board = start_board_with_code(chip, strict, None, 0, &code);
            let stop = board.run_cycles(CYCLES);
            let expected = if strict { StopReason::Strict } else { StopReason::Deadlock };
            assert_eq!(stop.reason, expected, "{chip}: {stop:?}");
            let count = board.warnings().iter().filter(|warning| warning.contains("SLEEPDEEP")).count();
            assert_eq!(count, 1, "{chip}: {:?}", board.warnings());
        }
    }
}

#[test]
fn missing_stm32_features_warn_once_and_stop_a_strict_run() {
    // System memory. Then a block that is storage, after its clock.
    let places = [
        ("stm32l053", 0x1ff0_0000, (0x4002_1038, 1 << 29), 0x4000_7408, "DAC1"),
        ("stm32l073", 0x1ff0_0000, (0x4002_1038, 1 << 29), 0x4000_7408, "DAC1"),
        ("stm32f103", 0x1fff_f000, (0x4002_101c, 1 << 23), 0x4000_5c00, "USB"),
        ("stm32f407", 0x1fff_0000, (0x4002_3844, 1 << 11), 0x4001_2c00, "SDIO"),
        ("stm32f411", 0x1fff_0000, (0x4002_3844, 1 << 11), 0x4001_2c00, "SDIO"),
        ("stm32f446", 0x1fff_0000, (0x4002_3844, 1 << 11), 0x4001_2c00, "SDIO"),
        ("stm32f767", 0x1ff0_0000, (0x4002_3844, 1 << 11), 0x4001_2c00, "SDMMC1"),
        ("stm32h743", 0x1ff0_0000, (0x5802_44e8, 1 << 29), 0x4000_7408, "DAC1"),
    ];
    for (chip, memory, (clock, enable), block, name) in places {
        assert_warns_once(chip, &[(memory, None)], "system memory");
        assert_warns_once(chip, &[(clock, Some(enable)), (block, Some(1))], &format!("write to a {name}"));
        assert_warns_once(chip, &[(clock, Some(enable)), (block, None)], &format!("read of a {name}"));
    }
}

#[test]
fn every_stm32_limit_warns_once_and_stops_a_strict_run() {
    for row in unsupported::all_unsupported_feature_rows() {
        for &(chip, writes) in row.examples {
            let accesses: Vec<_> = writes.iter().map(|&(address, value)| (address, Some(value))).collect();
            assert_warns_once(&format!("stm32{chip:?}").to_lowercase(), &accesses, row.about);
        }
    }
}

#[test]
fn random_numbers_at_48_mhz_do_not_warn() {
    // HSI48 on, and on the L0 chosen. It is ready some accesses later.
    let of_l0 = [(0x4002_1008, 1), (0x4002_104c, 1 << 26), (0x4002_1030, 1 << 20)];
    let of_h7 = [(0x5802_4400, 1 << 12 | 1), (0x5802_44dc, 1 << 6)];
    for (chip, set_up, control) in [("stm32l073", &of_l0[..], 0x4002_5000), ("stm32h743", &of_h7[..], 0x4802_1800)] {
        let waited = set_up.repeat(20);
        let writes = waited.iter().copied().chain([(control, 4)]).map(|(address, value)| (address, Some(value)));
        let mut board = start_board_with_code(
            chip,
            true,
            None,
            0,
            &generate_code_with_memory_accesses(&writes.collect::<Vec<_>>()),
        );
        let stop = board.run_cycles(CYCLES);
        assert_eq!((stop.reason, board.warnings()), (StopReason::Cycles, vec![]), "{chip}: {stop:?}");
    }
}

#[test]
fn clock_beyond_the_data_sheet_warns() {
    for (chip, most_mhz) in CHIPS[1..].iter().zip([32, 32, 72, 168, 100, 180, 216, 480]) {
        for (hz, told) in [(most_mhz * 1_000_000, 0), (most_mhz * 1_000_000 + 1, 1)] {
            let mut board = create_board_of_chip(chip, &Options::default()).expect("a chip");
            board.set_timing_rule("clock_hz", hz).expect("a setting");
            let vectors: Vec<u8> = [SRAM + 0x800, FLASH + 9].iter().flat_map(|word| word.to_le_bytes()).collect();
            let image = build_elf_file(FLASH + 9, &[(FLASH, [vectors, halfwords_to_bytes(&[STAY])].concat())]);
            board.load_image(&image, "test.elf").expect("an image");
            board.run_cycles(100);
            let warnings = board.warnings();
            assert_eq!(warnings.iter().filter(|warning| warning.contains("is beyond")).count(), told, "{warnings:?}");
        }
    }
}

#[test]
fn pll_beyond_the_data_sheet_warns() {
    // From the ring oscillator: XOSC on, PLL_SYS to 12 MHz * 133 / 2 / 2 = 399 MHz; when the crystal runs, clk_sys to
    // it.
    let set_up = [
        (0x4000_c000, 0),
        (0x4002_4000, 0x00fa_baa0),
        (0x4002_8000, 1),
        (0x4002_8008, 133),
        (0x4002_8004, 4),
        (0x4002_800c, 0x22000),
        (0x4002_8004, 0),
    ];
    let mut code = generate_code_with_memory_accesses(&set_up.map(|(address, value)| (address, Some(value))));
    code.pop();
    append_constant_load(&mut code, 2, 20_000);
    // subs r2, #1; bne back.
    code.extend([0x3a01, 0xd1fd]);
    append_constant_load(&mut code, 0, 0x4000_803c);
    append_constant_load(&mut code, 1, 1);
    code.extend([0x6001, STAY]);
    for strict in [false, true] {
        let mut board = start_board_with_code("rp2040", strict, None, 0, &code);
        let stop = board.run_cycles(200_000);
        assert_eq!(stop.reason == StopReason::Strict, strict, "{stop:?}");
        let warnings =
            board.warnings().iter().filter(|warning| warning.contains("clk_sys: 399000000 Hz is beyond")).count();
        assert_eq!(warnings, 1, "{:?}", board.warnings());
    }
}

#[test]
fn reset_vector_to_unmapped_memory_is_a_fault() {
    for chip in &CHIPS[1..] {
        for entry in [0x6000_0001, 0xffff_ffff, FLASH + CODE, 0x1fff_fff1, 0] {
            let mut board = start_board_with_code(chip, false, Some(entry), FLASH + CODE + 1, &[ADDS_R0, STAY]);
            assert_eq!(board.run_cycles(1000).reason, StopReason::Cycles, "{chip} {entry:#x}");
            let registers = board.core_registers(0);
            assert_eq!(registers[0].1, 1, "{chip} {entry:#x}: the fault's handler runs");
            assert_eq!(board.warnings().len(), 1, "{chip} {entry:#x}: {:?}", board.warnings());
            // The frame holds the address.
            let sp = registers.iter().find(|(name, _)| name == "sp").expect("sp").1;
            let pc = board.read_memory(sp + 24, 4).expect("the frame");
            assert_eq!(pc, (entry & !1).to_le_bytes(), "{chip} {entry:#x}");
        }
    }
}

#[test]
fn a_deadlocked_core_counts_its_sleep_cycles() {
    for chip in CHIPS {
        let mut code = vec![ADDS_R0; 60];
        code.extend([WFI, STAY]);
        let mut whole = start_board_with_code(chip, false, None, 0, &code);
        let stop = whole.run_cycles(CYCLES);
        assert_eq!(stop.reason, StopReason::Deadlock, "{chip}");
        let (cycle, stats) = (whole.current_cycle(), whole.core_stats(0));
        assert!(cycle >= 30 && stop.cycle == cycle && stats.cycles == cycle, "{chip}: {stop:?} {stats:?}");
        assert_eq!((stats.instructions, stats.sleep_cycles), (61, 0), "{chip}");
        let mut slices = start_board_with_code(chip, false, None, 0, &code);
        let stop = loop {
            let stop = slices.run_cycles(7);
            if stop.reason != StopReason::Cycles {
                break stop;
            }
        };
        assert_eq!((stop.reason, stop.cycle), (StopReason::Deadlock, cycle), "{chip} in slices");
    }
}

#[test]
fn interrupt_masked_by_primask_ends_sleep() {
    const CPSID: u16 = 0xb672;
    const ICSR: u32 = 0xe000_ed04;
    const PENDSVSET: u32 = 1 << 28;
    for chip in CHIPS {
        let mut code = vec![CPSID];
        append_constant_load(&mut code, 1, ICSR);
        append_constant_load(&mut code, 2, PENDSVSET);
        append_constant_load(&mut code, 0, 0);
        code.extend([0x600a, WFI, ADDS_R0, STAY]);
        let mut whole = start_board_with_code(chip, false, None, 0, &code);
        let stop = whole.run_cycles(CYCLES);
        assert_eq!(stop.reason, StopReason::Cycles, "{chip}: {stop:?}");
        assert_eq!((whole.core_registers(0)[0].1, whole.core_stats(0).sleep_cycles), (1, 0), "{chip}");
        let mut slices = start_board_with_code(chip, false, None, 0, &code);
        (0..CYCLES).for_each(|_| assert_eq!(slices.run_cycles(1).reason, StopReason::Cycles, "{chip} in slices"));
        assert_eq!(slices.core_stats(0).instructions, whole.core_stats(0).instructions, "{chip} in slices");
    }
}

#[test]
fn lockup_observation_accounts_every_cycle() {
    // Faults, and the handler faults too: everywhere, at once, and after some instructions.
    for chip in CHIPS {
        for lead in [0, 1, 5, 30] {
            for handler in [0x6000_0001, FLASH + CODE + 1, 0] {
                let mut code = vec![ADDS_R0; lead];
                code.extend([0xde00, STAY]);
                let mut board = start_board_with_code(chip, false, None, handler, &code);
                board.set_observation(Some(ObservationRequest::default()));
                let mut until = 0;
                for cycles in [3, CYCLES, CYCLES] {
                    board.run_cycles(cycles);
                    let observed = board.take_observations().expect("observed");
                    let account = &observed.accounts[0];
                    let sum: u64 = account.rows.iter().map(|(_, cost)| cost.cycles.iter().sum::<u64>()).sum();
                    assert_eq!((account.from, sum), (until, account.until - until), "{chip} {lead} {handler:#x}");
                    until = account.until;
                }
            }
        }
    }
}

#[test]
fn warnings_name_the_instruction() {
    // A store to a watched word, then a load where nothing is modelled, behind some instructions in one run.
    for chip in CHIPS {
        let word = SRAM + 0x800;
        let mut code = vec![ADDS_R0; 8];
        append_constant_load(&mut code, 3, word);
        let store = code.len();
        code.push(0x601a);
        append_constant_load(&mut code, 3, 0xe000_e00c);
        let load = code.len();
        code.extend([0x681a, STAY]);
        let base = if chip == "rp2040" { SRAM } else { FLASH + CODE };
        let at = |place: usize| base + 2 * place as u32;
        let mut board = start_board_with_code(chip, false, None, 0, &code);
        assert!(board.record_writes(word, 5, false), "{chip}");
        board.run_cycles(1000);
        let writers: Vec<u32> = board.take_events().iter().map(|event| event.pc).collect();
        assert_eq!(writers, [at(store)], "{chip}");
        if chip == "rp2040" || chip.starts_with("stm32l0") {
            let expected = format!("first used by 0x{:08x}", at(load));
            assert!(board.warnings().iter().any(|warning| warning.contains(&expected)), "{:?}", board.warnings());
        }
    }
}

#[test]
fn faulting_load_after_another_never_reduces_time() {
    // ldr r1, [r2]; ldr r3, [r4]: on the M3 and M4 the second one begins before the first one's end.
    for chip in &CHIPS[1..] {
        let mut code = Vec::new();
        append_constant_load(&mut code, 2, SRAM);
        append_constant_load(&mut code, 4, 0x6000_0000);
        code.extend([0x6811, 0x6823, STAY]);
        let handler = FLASH + CODE + 2 * (code.len() as u32 - 1) + 1;
        let mut board = start_board_with_code(chip, false, None, handler, &code);
        board.set_profiling(true);
        assert_eq!(board.run_cycles(1000).reason, StopReason::Cycles, "{chip}");
        let cycles: Vec<u64> = board.take_profile(0).iter().map(|row| row.1).collect();
        assert!(cycles.iter().all(|&each| each <= 1100), "{chip}: {cycles:?}");
        assert_eq!(board.warnings().len(), 1, "{chip}: {:?}", board.warnings());
    }
}

#[test]
fn extreme_exception_settings_keep_time_monotonic() {
    const TICK: [(u32, Option<u32>); 3] = [(0xe000_e014, Some(60)), (0xe000_e018, Some(0)), (0xe000_e010, Some(7))];
    let ends = ["exception_entry", "exception_exit", "tail_chain", "late_arrival", "pop_preemption"];
    for chip in CHIPS {
        for choice in 0..1 << ends.len() {
            let mut code = generate_code_with_memory_accesses(&TICK);
            code.truncate(code.len() - 1);
            // FPU on where there is one, so that frames hold its state: vadd s0, s0, s0 behind CPACR.
            if !matches!(chip, "rp2040" | "stm32l053" | "stm32l073" | "stm32f103") {
                append_constant_load(&mut code, 0, 0xe000_ed88);
                append_constant_load(&mut code, 1, 0xf << 20);
                code.extend([0x6001, 0xee30, 0x0a00]);
            }
            code.push(STAY);
            let handler = if chip == "rp2040" { 0 } else { FLASH + CODE + 2 * code.len() as u32 + 1 };
            code.push(0x4770);
            let mut board = start_board_with_code(chip, false, None, handler, &code);
            board.set_exception_tracing(true);
            for (key, rule, _) in board.timing_rules() {
                let place =
                    ends.iter().position(|end| key.strip_prefix("timing.").is_some_and(|key| key.starts_with(end)));
                if let Some(place) = place {
                    board
                        .set_timing_rule(&key, if choice >> place & 1 == 0 { rule.min } else { rule.max })
                        .expect("in range");
                }
            }
            for cycles in [500, 1, 2, 3, 5, 400] {
                let end = board.current_cycle() + cycles;
                assert_eq!(board.run_cycles(cycles).reason, StopReason::Cycles, "{chip} {choice:b}");
                assert!(
                    board.current_cycle() == end && board.core_cycle(0) < end + 200,
                    "{chip} {choice:b}: time ran away"
                );
            }
        }
    }
}

/// Returns the chips with an ARMv7-M core.
fn v7m_chips() -> impl Iterator<Item = &'static str> {
    CHIPS.into_iter().filter(|chip| *chip != "rp2040" && !chip.starts_with("stm32l0"))
}

#[test]
fn missing_debug_features_warn_once_and_stop_a_strict_run() {
    const TRACE: (u32, Option<u32>) = (0xe000_edfc, Some(1 << 24));
    for chip in v7m_chips() {
        assert_warns_once(chip, &[(0xe000_1004, None)], "DWT registers are read while DEMCR.TRCENA is off");
        assert_warns_once(chip, &[(0xe000_1000, Some(1))], "DWT registers are written while DEMCR.TRCENA is off");
        assert_warns_once(chip, &[TRACE, (0xe000_1008, None)], "DWT: the profiling counters");
        assert_warns_once(chip, &[TRACE, (0xe000_1038, Some(4))], "DWT: the comparators");
        let right = [(0xe000_1fb0, Some(0xc5ac_ce55)), (0xe000_1fb4, None), TRACE, (0xe000_1000, Some(1))];
        let mut board = start_board_with_code(
            chip,
            true,
            None,
            0,
            &generate_code_with_memory_accesses(&[&right[..], &[(0xe000_1004, None)]].concat()),
        );
        assert_eq!(board.run_cycles(CYCLES).reason, StopReason::Cycles, "{chip}: {:?}", board.warnings());
    }
}

/// Creates a board whose timer TIM3 interrupts every 200 cycles, to test handlers that clear the flag too late.
/// The handler executes `before`, the store that clears the flag, and `ending`. R0 is the flag register's address.
fn board_with_timer_interrupt(chip: &str, strict: bool, before: &[u16], ending: &[u16]) -> Box<dyn Board> {
    const DIER: (u32, Option<u32>) = (0x4000_040c, Some(1));
    const ARR: (u32, Option<u32>) = (0x4000_042c, Some(199));
    const CR1: (u32, Option<u32>) = (0x4000_0400, Some(1));
    const ISER: (u32, Option<u32>) = (0xe000_e100, Some(1 << 29));
    let clock = match chip {
        "stm32f103" => (0x4002_101c, Some(2)),
        "stm32h743" => (0x5802_44e8, Some(2)),
        "stm32l053" | "stm32l073" => (0x4002_1038, Some(2)),
        _ => (0x4002_3840, Some(2)),
    };
    let mut code = generate_code_with_memory_accesses(&[clock, DIER, ARR, CR1, ISER]);
    let handler = FLASH + CODE + 2 * code.len() as u32 + 1;
    code.extend(before);
    append_constant_load(&mut code, 0, 0x4000_0410);
    code.extend([0x2100, 0x6001]);
    code.extend(ending);
    let mut board = start_board_with_code(chip, strict, None, handler, &code);
    board.set_exception_tracing(true);
    board
}

#[test]
fn late_interrupt_clear_warns_once() {
    const PUSH: u16 = 0xb510;
    const POP: u16 = 0xbd10;
    const BX_LR: u16 = 0x4770;
    const NOP: u16 = 0xbf00;
    const READ_BACK: u16 = 0x6802;
    let dsb = [0xf3bf, 0x8f4f];
    let late: [(&[u16], &[u16]); 3] = [(&[], &[BX_LR]), (&[PUSH], &[POP]), (&[], &[NOP, BX_LR])];
    let right: [(&[u16], &[u16]); 4] = [
        (&[], &[dsb[0], dsb[1], BX_LR]),
        (&[PUSH], &[dsb[0], dsb[1], POP]),
        (&[], &[READ_BACK, BX_LR]),
        (&[], &[NOP, NOP, NOP, BX_LR]),
    ];
    let count_warnings =
        |board: &dyn Board| board.warnings().iter().filter(|text| text.contains("returns right after")).count();
    for chip in v7m_chips() {
        for (before, ending) in late {
            let mut board = board_with_timer_interrupt(chip, false, before, ending);
            assert_eq!(board.run_cycles(CYCLES).reason, StopReason::Cycles, "{chip} {ending:x?}");
            assert!(board.take_events().len() > 20, "{chip} {ending:x?}: the handler runs");
            assert_eq!(count_warnings(&*board), 1, "{chip} {ending:x?}: {:?}", board.warnings());
            let stop = board_with_timer_interrupt(chip, true, before, ending).run_cycles(CYCLES);
            assert_eq!(stop.reason, StopReason::Strict, "{chip} {ending:x?}: {stop:?}");
        }
        for (before, ending) in right {
            let mut board = board_with_timer_interrupt(chip, true, before, ending);
            assert_eq!(
                board.run_cycles(CYCLES).reason,
                StopReason::Cycles,
                "{chip} {ending:x?}: {:?}",
                board.warnings()
            );
            assert!(board.take_events().len() > 20, "{chip} {ending:x?}: the handler runs");
            assert_eq!(count_warnings(&*board), 0, "{chip} {ending:x?}: {:?}", board.warnings());
        }
    }
}

/// A test in which code requests an interrupt between two readings of the core's counter, and a handler reads it first.
struct CounterReadingTest {
    code: Vec<u16>,
    /// Addresses: the first reading, the handler's, the one it returns to.
    first: u32,
    handler: u32,
    last: u32,
}

impl CounterReadingTest {
    /// Creates the test of a chip, with so many instructions between the interrupt and the last reading that the
    /// handler comes before it.
    fn new(chip: &str) -> CounterReadingTest {
        const NOP: u16 = 0xbf00;
        const INTERRUPT: u32 = 20;
        let is_v7m = v7m_chips().any(|other| other == chip);
        let base = if chip == "rp2040" { SRAM } else { FLASH + CODE };
        let starts_counter = if is_v7m {
            vec![(0xe000_edfc, Some(1 << 24)), (0xe000_1fb0, Some(0xc5ac_ce55)), (0xe000_1000, Some(1))]
        } else {
            vec![(0xe000_e014, Some(0xff_ffff)), (0xe000_e018, Some(0)), (0xe000_e010, Some(5))]
        };
        let vectors = [(0xe000_ed08, Some(SRAM + 0x1000))];
        let enable = [(0xe000_e100, Some(1 << INTERRUPT))];
        let set_up =
            [starts_counter, if chip == "rp2040" { vectors.to_vec() } else { vec![] }, enable.to_vec()].concat();
        let mut code = generate_code_with_memory_accesses(&set_up);
        code.truncate(code.len() - 1);
        append_constant_load(&mut code, 0, if is_v7m { 0xe000_1004 } else { 0xe000_e018 });
        append_constant_load(&mut code, 5, 0xe000_e200);
        append_constant_load(&mut code, 4, 1 << INTERRUPT);
        let again = code.len();
        code.extend([NOP; 16]);
        let address = |code: &[u16]| base + 2 * code.len() as u32;
        // ldr r2, [r0]; str r4, [r5]; nop; ldr r6, [r0]; and again.
        let first = address(&code);
        code.extend([0x6802, 0x602c, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP]);
        let last = address(&code);
        let back = (again as i32 - code.len() as i32 - 3) as u16 & 0x7ff;
        code.extend([0x6806, 0xe000 | back]);
        // ldr r7, [r0]; bx lr: the return restores r0 to r3.
        let handler = address(&code);
        code.extend([0x6807, 0x4770]);
        CounterReadingTest { code, first, handler, last }
    }

    /// Creates a board that executes the test.
    fn start(&self, chip: &str) -> Box<dyn Board> {
        if chip != "rp2040" {
            return start_board_with_code(chip, false, None, self.handler | 1, &self.code);
        }
        let mut board = create_board_of_chip(chip, &Options::default()).expect("a chip");
        let vectors = [self.handler | 1; 48].map(u32::to_le_bytes).concat();
        let image = build_elf_file(SRAM + 1, &[(SRAM, halfwords_to_bytes(&self.code)), (SRAM + 0x1000, vectors)]);
        board.load_image(&image, "test.elf").expect("an image");
        board
    }
}

#[test]
fn counter_probes_and_events_agree_on_exception_entry_and_exit() {
    for chip in CHIPS {
        let readings = CounterReadingTest::new(chip);
        let mut board = readings.start(chip);
        board.set_exception_tracing(true);
        if board.timing_rules().iter().any(|(key, ..)| key == "icache") {
            board.set_timing_rule("icache", 1).expect("a setting");
        }
        let places = [(readings.first, readings.handler), (readings.first, readings.last)];
        let spans = places.map(|(from, to)| board.measure_between_addresses(from, to));
        board.stop_before_address(readings.last + 2);
        let mut before = [0; 2];
        // The first rounds fetch the code. From then on nothing waits for it.
        for round in 0..4 {
            assert_eq!(board.run_cycles(CYCLES).reason, StopReason::Until, "{chip}");
            let totals =
                spans.map(|index| board.address_interval_statistics(index).map_or(0, |span| span.total_cycles));
            let probed = [0, 1].map(|span| totals[span] - before[span]);
            let register =
                |name: &str| board.core_registers(0).into_iter().find(|(each, _)| each == name).expect("there").1;
            // SysTick, the M0+'s counter, counts down.
            let distance = |later: &str| (register(later).wrapping_sub(register("r2")) as i32).unsigned_abs();
            let counted: [u64; 2] = ["r7", "r6"].map(|later| distance(later).into());
            assert!(round < 2 || probed == counted, "{chip}: probes say {probed:?}, the counter {counted:?}");
            before = totals;
        }
        let events = board.take_events();
        let entered = events.iter().find(|event| event.kind == Kind::ExceptionEnter as u8).expect("entered");
        let entry =
            board.timing_rules().into_iter().find(|(key, ..)| key == "timing.exception_entry_cycles").expect("a rule");
        assert!(u64::from(entered.value) >= entry.2, "{chip}: {entered:?} {entry:?}");
    }
}
