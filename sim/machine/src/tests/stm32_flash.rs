//! Flash interfaces: address sequences and the cycles they take.

use crate::stm32::flash::{FlashF1, FlashF4, FlashF7Itcm, FlashL0};

const BASE: u32 = 0x0800_0000;

/// Fetches words one behind the other as fast as they come; returns when the decoder has each.
fn stream(mut fetch: impl FnMut(u32, u64) -> u64, words: u32) -> Vec<u64> {
    let mut at = 0;
    (0..words)
        .map(|word| {
            let there = fetch(BASE + 4 * word, at);
            at = there - 1;
            there
        })
        .collect()
}

#[test]
fn without_wait_states_every_word_takes_its_two_cycles() {
    let (mut f1, mut f4, mut l0) = (FlashF1::new(), FlashF4::new(BASE, 0x1000), FlashL0::new());
    let straight = [2, 3, 4, 5, 6, 7];
    assert_eq!(stream(|address, at| f1.fetch_code(address, at), 6), straight);
    assert_eq!(stream(|address, at| f4.fetch_code(address, at), 6), straight);
    assert_eq!(stream(|address, at| l0.fetch_code(address, at), 6), straight);
    assert!(!f1.may_fetches_wait() && !f4.may_fetches_wait() && !l0.may_fetches_wait());
}

/// K. Stoffelen's AES with its tables in the flash of an STM32F407 at 24 MHz takes the time of one with tables in RAM.
#[test]
fn without_wait_states_data_and_instructions_do_not_hold_each_other_up() {
    let (mut f1, mut f4) = (FlashF1::new(), FlashF4::new(BASE, 0x1000));
    for at in 0..8 {
        let (code, data) = (BASE + 4 * at as u32, BASE + 0x200 + 32 * at as u32);
        assert_eq!((f1.data_read_waits(data, at), f1.fetch_code(code, at)), (0, at + 2));
        assert_eq!((f4.data_read_waits(data, at), f4.fetch_code(code, at)), (0, at + 2));
    }
}

#[test]
fn f1_streams_eight_bytes_in_three_cycles_at_two_wait_states() {
    let mut f1 = FlashF1::new();
    f1.set_acr(0x12);
    assert_eq!(stream(|address, at| f1.fetch_code(address, at), 8), [4, 5, 7, 8, 10, 11, 13, 14]);
}

#[test]
fn f1_without_prefetch_waits_for_every_line() {
    let mut f1 = FlashF1::new();
    f1.set_acr(0x02);
    assert_eq!(stream(|address, at| f1.fetch_code(address, at), 6), [4, 5, 8, 9, 12, 13]);
}

/// Returns an interface at two wait states with prefetch after its first fetch, whose line is there in cycle 4.
fn f1_after_first_fetch() -> FlashF1 {
    let mut f1 = FlashF1::new();
    f1.set_acr(0x12);
    assert_eq!(f1.fetch_code(BASE, 0), 4);
    f1
}

#[test]
fn f1_reads_the_next_line_at_once_only_for_fetches_without_a_pause() {
    let second_line = |at: u64| {
        let mut f1 = f1_after_first_fetch();
        assert_eq!(f1.fetch_code(BASE + 4, 3), 5);
        f1.fetch_code(BASE + 8, at)
    };
    // Directly after the fetch before: from cycle 4 to 6. Later: from cycle 6 on, in which the interface reads ahead by
    // itself.
    assert_eq!(second_line(4), 7);
    assert_eq!(second_line(5), 9);
    assert_eq!(second_line(6), 9);
    assert_eq!(second_line(20), 22);
    // A fetch that follows no other one reads from the cycle after its address phase on.
    assert_eq!(f1_after_first_fetch().fetch_code(BASE + 8, 4), 8);
}

#[test]
fn f1_reads_ahead_two_cycles_after_the_line_and_three_after_the_fetch() {
    let third_line = |at: u64| {
        let mut f1 = f1_after_first_fetch();
        assert_eq!(f1.fetch_code(BASE + 8, 20), 22);
        f1.fetch_code(BASE + 16, at)
    };
    // The second line has been there for long. The third is read ahead from cycle 23 to 25. A fetch in cycle 21 follows
    // that from the second line, which followed none: it reads from cycle 22 to 24.
    assert_eq!(third_line(21), 25);
    assert_eq!(third_line(22), 26);
    assert_eq!(third_line(23), 26);
    assert_eq!(third_line(24), 26);
    assert_eq!(third_line(25), 27);
    let mut f1 = f1_after_first_fetch();
    assert_eq!((f1.fetch_code(BASE + 8, 20), f1.fetch_code(BASE + 12, 21), f1.fetch_code(BASE + 16, 22)), (22, 23, 25));
}

#[test]
fn f1_branches_give_up_a_read_ahead() {
    // The line behind is read ahead from cycle 6 to 8.
    for at in [4, 6, 7, 8, 20] {
        assert_eq!(f1_after_first_fetch().fetch_code(BASE + 0x100, at), at + 4);
    }
}

#[test]
fn f1_data_goes_before_a_read_ahead_that_has_not_begun() {
    // A literal waits for nothing but its own read; the fetch after it waits for both.
    let mut f1 = f1_after_first_fetch();
    assert_eq!(f1.data_read_waits(BASE + 0x200, 20), 2);
    assert_eq!(f1.fetch_code(BASE + 0x300, 20), 27);
    // In cycle 6 data and the read ahead could begin. Data is first, and the line is there three cycles later.
    let mut f1 = f1_after_first_fetch();
    assert_eq!(f1.data_read_waits(BASE + 0x200, 5), 2);
    assert_eq!(f1.fetch_code(BASE + 8, 8), 12);
    // One cycle later the read ahead has begun.
    let mut f1 = f1_after_first_fetch();
    assert_eq!(f1.data_read_waits(BASE + 0x200, 6), 4);
    assert_eq!(f1.fetch_code(BASE + 8, 8), 10);
}

#[test]
fn f4_prefetches_and_caches() {
    let mut f4 = FlashF4::new(BASE, 0x1000);
    f4.set_acr(0x705);
    let first = stream(|address, at| f4.fetch_code(address, at), 12);
    assert_eq!(first, [7, 8, 9, 10, 13, 14, 15, 16, 19, 20, 21, 22], "a line in six cycles");
    for (word, at) in (0..12).zip(100..) {
        assert_eq!(f4.fetch_code(BASE + 4 * word, at), at + 2, "all of it is in the cache");
    }
}

#[test]
fn f4_with_features_disabled() {
    // Neither prefetch nor caches: six cycles and four words a line, every time.
    let mut f4 = FlashF4::new(BASE, 0x1000);
    f4.set_acr(5);
    for start in [1000, 2000] {
        f4.fetch_code(BASE + 0x800, start - 500);
        let mut at = start;
        let there: Vec<u64> = (0..8)
            .map(|word| {
                let there = f4.fetch_code(BASE + 4 * word, at);
                at = there - 1;
                there - start
            })
            .collect();
        assert_eq!(there, [7, 8, 9, 10, 16, 17, 18, 19]);
    }
}

#[test]
fn f4_holds_64_lines_and_drops_the_oldest() {
    let mut f4 = FlashF4::new(BASE, 0x10000);
    f4.set_acr(0x205);
    let line = |index: u32| BASE + 32 * index;
    let mut at = 0;
    let mut wait = |f4: &mut FlashF4, index| {
        at += 100;
        f4.fetch_code(line(index), at) - (at + 2)
    };
    for index in 0..64 {
        assert_eq!(wait(&mut f4, index), 5);
    }
    assert_eq!(wait(&mut f4, 0), 0);
    assert_eq!(wait(&mut f4, 64), 5, "takes the place of line 1");
    assert_eq!(wait(&mut f4, 0), 0);
    assert_eq!(wait(&mut f4, 1), 5);
    f4.set_acr(0x005);
    f4.set_acr(0x805);
    f4.set_acr(0x205);
    assert_eq!(wait(&mut f4, 0), 5, "it was reset");
}

#[test]
fn f4_data_has_eight_lines_of_its_own() {
    let mut f4 = FlashF4::new(BASE, 0x1000);
    f4.set_acr(0x405);
    for index in 0..8 {
        assert_eq!(f4.data_read_waits(BASE + 16 * index, 100 * u64::from(index)), 5);
    }
    for index in 0..8 {
        assert_eq!(f4.data_read_waits(BASE + 16 * index + 8, 1000), 0);
    }
    assert_eq!(f4.data_read_waits(BASE + 16 * 8, 2000), 5);
    assert_eq!(f4.data_read_waits(BASE, 3000), 5);
    f4.set_acr(5);
    assert_eq!(f4.data_read_waits(BASE, 4000), 5);
    assert_eq!(f4.data_read_waits(BASE + 4, 4001 + 5), 0, "the last line read is at hand");
}

#[test]
fn f7_itcm_reads_32_bytes() {
    let mut f7 = FlashF7Itcm::new(0x0020_0000, 0x1000);
    f7.set_acr(0x307);
    assert_eq!(f7.fetch_code(0x0020_0000, 0), 9);
    assert_eq!(f7.fetch_code(0x0020_001c, 9), 11);
    assert_eq!(f7.fetch_code(0x0020_0020, 10), 17, "prefetched from cycle 9 on");
}

#[test]
fn l0_buffers() {
    let mut l0 = FlashL0::new();
    l0.apply_access_control_register(1);
    assert_eq!(l0.fetch_code(BASE, 0), 3);
    assert_eq!(l0.fetch_code(BASE, 10), 12, "history");
    for word in 1..7 {
        assert_eq!(l0.fetch_code(BASE + 4 * word, 20 * u64::from(word)), 20 * u64::from(word) + 3);
    }
    assert_eq!(l0.fetch_code(BASE, 200), 203, "six buffers");
    l0 = FlashL0::new();
    l0.apply_access_control_register(3);
    assert_eq!(
        stream(|address, at| l0.fetch_code(address, at), 4),
        [3, 5, 7, 9],
        "each word takes two cycles of the array"
    );
    assert_eq!(l0.fetch_code(BASE + 16, 30), 32, "prefetched meanwhile");
    l0.apply_access_control_register(0x21);
    assert_eq!((l0.fetch_code(BASE, 300), l0.fetch_code(BASE, 310)), (303, 313), "no buffers");
    l0.apply_access_control_register(0x41);
    assert_eq!((l0.data_read_waits(BASE, 400), l0.data_read_waits(BASE + 4, 410)), (1, 0), "pre-read");
}
