//! Whole programs: what their handlers see, word by word, as QEMU records it (the M7 as the M4).

use crate::v7m::core::Features;
use crate::v7m::testing::Bench;

/// Bytes of an image in hexadecimal digits.
fn image(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
    digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

/// Runs an image and compares what it sends with what it should.
fn check(features: Features, hex: &str, expected: &str) {
    let mut bench = Bench::new(features);
    bench.bus.load_image(&image(hex));
    crate::v7m::exception::start_core(&mut bench.core, &mut bench.bus, &mut bench.pipe, 0);
    bench.run(10_000_000);
    let context =
        |at: usize| expected.split_whitespace().skip(at.saturating_sub(20)).take(24).collect::<Vec<_>>().join(" ");
    for (at, (ours, theirs)) in bench.bus.console.lines().zip(expected.split_whitespace()).enumerate() {
        assert_eq!(ours, theirs, "word {}, after {}", at + 1, context(at));
    }
    assert_eq!(bench.bus.console.lines().count(), expected.split_whitespace().count(), "{:?}", bench.core.phase);
}

/// QEMU models eight priority bits and eight regions whatever the part has.
fn like_qemu(features: Features) -> Features {
    Features { irq_lines: 32, priority_bits: 8, mpu_regions: 8, stack_align: true, ..features }
}

macro_rules! as_qemu {
    ($name:ident, $features:expr, $image:literal) => {
        #[test]
        fn $name() {
            let image = include_str!(concat!("../../../../tests/v7m_system/", $image, ".hex"));
            let expected = include_str!(concat!("../../../../tests/v7m_system/", $image, ".txt"));
            check(like_qemu($features), image, expected);
        }
    };
}

as_qemu!(cortex_m3_as_qemu, Features::CORTEX_M3, "m3");
as_qemu!(cortex_m4_as_qemu, Features::CORTEX_M4F, "m4");
as_qemu!(cortex_m7_as_qemu, Features::CORTEX_M7, "m4");
