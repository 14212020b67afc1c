//! Priorities, candidates, lines.

use super::{Nvic, THREAD_PRIORITY, exception};

fn nvic() -> Nvic {
    Nvic::new(150, 4)
}

/// The candidate must be what a search over all pending and enabled exceptions finds.
fn search(nvic: &Nvic) -> Option<u32> {
    (2..256)
        .filter(|&number| nvic.is_pending(number) && nvic.is_enabled(number))
        .min_by_key(|&number| nvic.priority_of(number) * 256 + number as i32)
}

#[test]
fn only_existing_priority_bits_are_kept() {
    for bits in 3..=8_u8 {
        let mut nvic = Nvic::new(32, bits);
        nvic.set_priority(20, 0xff);
        assert_eq!(nvic.priority_of(20), 0xff & !(0xff >> bits), "{bits} bits");
    }
}

#[test]
fn candidate_is_the_most_urgent_after_every_change() {
    let mut nvic = nvic();
    // A fixed sequence that wanders over all numbers: each step pends, enables, unpends or changes a priority.
    let mut state = 1_u32;
    for step in 0..4000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = 16 + (state >> 8) % 150;
        let on = state >> 30 & 1 != 0;
        match state >> 28 & 3 {
            0 => {
                nvic.set_exception_pending(number, on);
            }
            1 => nvic.set_enabled(number, on),
            2 => nvic.set_priority(number, (state >> 20) as u8),
            _ => nvic.set_priority_grouping((state >> 20) as u8),
        }
        assert_eq!(nvic.most_urgent_pending().map(|(number, _)| number), search(&nvic), "step {step}");
    }
}

#[test]
fn priority_groups_divide_the_byte() {
    // PRIGROUP, group priority of 0xf0, of 0x70 and of 0x30.
    let table = [
        (0, 0xf0, 0x70, 0x30),
        (3, 0xf0, 0x70, 0x30),
        (4, 0xe0, 0x60, 0x20),
        (5, 0xc0, 0x40, 0x00),
        (6, 0x80, 0x00, 0x00),
        (7, 0x00, 0x00, 0x00),
    ];
    for (prigroup, high, middle, low) in table {
        let mut nvic = nvic();
        nvic.set_priority_grouping(prigroup);
        assert_eq!([0xf0, 0x70, 0x30].map(|p| nvic.group_priority(p)), [high, middle, low], "PRIGROUP {prigroup}");
        assert_eq!([-3, -2, -1].map(|p| nvic.group_priority(p)), [-3, -2, -1]);
    }
}

#[test]
fn subpriority_orders_what_is_pending_but_does_not_preempt() {
    let mut nvic = nvic();
    nvic.set_priority_grouping(5);
    for (number, priority) in [(30, 0x50), (20, 0x60), (25, 0x50)] {
        nvic.set_enabled(number, true);
        nvic.set_priority(number, priority);
        nvic.set_exception_pending(number, true);
    }
    assert_eq!(nvic.most_urgent_pending(), Some((25, 0x40)), "lowest subpriority, then lowest number");
    nvic.activate_exception(20);
    assert_eq!(nvic.active_priority(), 0x40);
    assert_eq!(nvic.most_urgent_pending(), Some((25, 0x40)), "the group is no more urgent than what is active");
}

#[test]
fn system_exceptions_have_fixed_or_own_priorities() {
    let mut nvic = nvic();
    nvic.set_priority_word(4, 0x1020_3040, u32::MAX);
    nvic.set_priority_word(8, 0x5060_7080, u32::MAX);
    nvic.set_priority_word(12, 0x90a0_b0c0, u32::MAX);
    let expected = [-3, -2, -1, 0x40, 0x30, 0x20, 0, 0, 0, 0, 0x50, 0xc0, 0, 0xa0, 0x90];
    assert_eq!(std::array::from_fn(|index| nvic.priority_of(index as u32 + 1)), expected);
}

#[test]
fn line_pends_on_its_edge_and_again_if_high_on_return() {
    let mut nvic = nvic();
    assert!(nvic.set_line_level(149, true));
    assert!(!nvic.set_line_level(149, true), "no second edge");
    nvic.activate_exception(165);
    nvic.set_line_level(149, true);
    assert!(!nvic.is_pending(165), "no edge, no pending");
    nvic.deactivate_exception(165);
    assert!(nvic.is_pending(165), "still high");
    nvic.activate_exception(165);
    nvic.set_line_level(149, false);
    nvic.deactivate_exception(165);
    assert!(!nvic.is_pending(165));
    nvic.activate_exception(165);
    assert!(nvic.set_line_level(149, true), "a new edge pends while active");
    assert!(!nvic.set_line_level(150, true), "no such line");
}

#[test]
fn clearing_a_pending_line_that_is_high_leaves_it_pending() {
    let mut nvic = nvic();
    nvic.set_line_level(3, true);
    nvic.write_register(0x280, 1 << 3, u32::MAX);
    assert!(nvic.is_pending(19));
    nvic.set_line_level(3, false);
    nvic.write_register(0x280, 1 << 3, u32::MAX);
    assert!(!nvic.is_pending(19));
}

#[test]
fn bit_registers_reach_every_line_and_none_beyond() {
    let mut nvic = nvic();
    for word in 0..8 {
        nvic.write_register(0x100 + 4 * word, u32::MAX, u32::MAX);
        nvic.write_register(0x200 + 4 * word, u32::MAX, u32::MAX);
    }
    let expected = |word: u32| match word {
        0..=3 => u32::MAX,
        4 => 0x003f_ffff,
        _ => 0,
    };
    for word in 0..8 {
        for base in [0x100, 0x180, 0x200, 0x280] {
            assert_eq!(nvic.read_register(base + 4 * word), Some(expected(word)), "{base:#x} word {word}");
        }
        assert_eq!(nvic.read_register(0x300 + 4 * word), Some(0));
    }
    nvic.activate_exception(exception::IRQ0 + 33);
    assert_eq!(nvic.read_register(0x304), Some(2));
    nvic.write_register(0x184, 1 << 5, u32::MAX);
    assert_eq!(nvic.read_register(0x104), Some(!(1 << 5)));
    nvic.write_register(0x284, 1 << 6, u32::MAX);
    assert_eq!(nvic.read_register(0x204), Some(!(1 << 6) & !(1 << 1)));
}

#[test]
fn priority_registers_are_written_by_byte() {
    let mut nvic = nvic();
    nvic.write_register(0x494, 0xff80_40ff, 0x00ff_ff00);
    assert_eq!(nvic.read_register(0x494), Some(0x0000_4000), "line 148 not addressed, 150 not there");
    nvic.write_register(0x494, 0x1234_5678, u32::MAX);
    assert_eq!(nvic.read_register(0x494), Some(0x0000_5070));
}

#[test]
fn no_active_exception_means_thread_priority() {
    let mut nvic = nvic();
    assert_eq!((nvic.most_urgent_pending(), nvic.active_priority()), (None, THREAD_PRIORITY));
    nvic.activate_exception(exception::NMI);
    nvic.activate_exception(20);
    assert_eq!(nvic.active_priority(), -2);
    nvic.deactivate_all_exceptions();
    assert_eq!(nvic.active_priority(), THREAD_PRIORITY);
}
