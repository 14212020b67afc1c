//! Each operation on a small memory.

use super::*;

const BASE: u32 = 0x2000_0000;
const BLOCK: u32 = BASE;
const BUFFER: u32 = BASE + 0x40;

struct Ram(Vec<u8>);

impl Ram {
    fn new(words: &[u32], buffer: &[u8]) -> Ram {
        let mut content = vec![0xee; 256];
        for (place, word) in content.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        content[0x40..0x40 + buffer.len()].copy_from_slice(buffer);
        Ram(content)
    }
}

impl SemihostingMemory for Ram {
    fn read_bytes(&self, address: u32, count: usize) -> Option<Vec<u8>> {
        let start = address.checked_sub(BASE)? as usize;
        self.0.get(start..start.checked_add(count)?).map(<[u8]>::to_vec)
    }

    fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> bool {
        let Some(start) = address.checked_sub(BASE).map(|start| start as usize) else { return false };
        let Some(place) = self.0.get_mut(start..start + bytes.len()) else { return false };
        place.copy_from_slice(bytes);
        true
    }
}

fn opened(debugger: &mut Debugger, name: &[u8], mode: u32) -> u32 {
    let mut ram = Ram::new(&[BUFFER, mode, name.len() as u32], name);
    match debugger.execute_call(0x01, BLOCK, 0, &mut ram) {
        Answer::Value(handle) => handle,
        other => panic!("{other:?}"),
    }
}

fn value(debugger: &mut Debugger, operation: u32, ram: &mut Ram) -> u32 {
    match debugger.execute_call(operation, BLOCK, 0, ram) {
        Answer::Value(value) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn output_goes_to_its_channel() {
    let mut debugger = Debugger::default();
    let mut ram = Ram::new(&[], b"one\0two");
    assert_eq!(debugger.execute_call(0x04, BUFFER, 0, &mut ram), Answer::Value(0));
    assert_eq!(debugger.execute_call(0x03, BUFFER, 0, &mut ram), Answer::Value(0));
    let (out, error) = (opened(&mut debugger, b":tt", 4), opened(&mut debugger, b":tt", 8));
    assert_ne!(out, error);
    for handle in [out, error] {
        let mut ram = Ram::new(&[handle, BUFFER, 3], b"xyz");
        assert_eq!(value(&mut debugger, 0x05, &mut ram), 0);
        assert_eq!(value(&mut debugger, 0x09, &mut ram), 1);
        assert_eq!(value(&mut debugger, 0x0c, &mut ram), 0);
    }
    let printed = [(Channel::Semihosting, b"oneoxyz".to_vec()), (Channel::SemihostingError, b"xyz".to_vec())];
    assert_eq!(debugger.take_printed_text(), printed);
    assert_eq!(value(&mut debugger, 0x02, &mut Ram::new(&[out], b"")), 0);
    let mut ram = Ram::new(&[out, BUFFER, 3], b"xyz");
    assert_eq!(value(&mut debugger, 0x05, &mut ram), 3, "closed");
    assert_eq!(value(&mut debugger, 0x02, &mut ram), FAILED);
    assert_eq!(value(&mut debugger, 0x13, &mut ram), BAD_HANDLE);
    assert_eq!(debugger.take_printed_text(), []);
}

#[test]
fn what_was_typed_is_read_by_lines_and_then_the_file_ends() {
    let mut debugger = Debugger::default();
    let input = opened(&mut debugger, b":tt", 0);
    debugger.append_typed_text(b"ab\ncd");
    let mut ram = Ram::new(&[input, BUFFER, 8], b"");
    assert_eq!(value(&mut debugger, 0x06, &mut ram), 5);
    assert_eq!(&ram.0[0x40..0x44], b"ab\n\xee");
    assert_eq!(value(&mut debugger, 0x07, &mut ram), u32::from(b'c'));
    assert_eq!(value(&mut debugger, 0x07, &mut ram), u32::from(b'd'));
    assert_eq!(value(&mut debugger, 0x07, &mut ram), FAILED);
    assert_eq!(value(&mut debugger, 0x06, &mut ram), 8, "the end");
    let output = opened(&mut debugger, b":tt", 4);
    assert_eq!(value(&mut debugger, 0x06, &mut Ram::new(&[output, BUFFER, 8], b"")), 8);
}

#[test]
fn host_files_are_refused_and_features_reported() {
    let mut debugger = Debugger::default();
    let mut ram = Ram::new(&[BUFFER, 0, 8], b"data.bin");
    let Answer::Unsupported(FAILED, about) = debugger.execute_call(0x01, BLOCK, 0, &mut ram) else { panic!("opened") };
    assert!(about.contains("\"data.bin\""), "{about}");
    let features = opened(&mut debugger, b":semihosting-features", 0);
    let mut ram = Ram::new(&[features, BUFFER, 16], b"");
    assert_eq!(value(&mut debugger, 0x0c, &mut ram), 5);
    assert_eq!(value(&mut debugger, 0x09, &mut ram), 0);
    assert_eq!(value(&mut debugger, 0x06, &mut ram), 11);
    assert_eq!(&ram.0[0x40..0x45], b"SHFB\x03");
    assert_eq!(value(&mut debugger, 0x0a, &mut Ram::new(&[features, 4], b"")), 0);
    assert_eq!(value(&mut debugger, 0x06, &mut ram), 15);
    for operation in [0x0d, 0x0e, 0x0f, 0x12, 0x17, 0x100] {
        assert!(matches!(debugger.execute_call(operation, BLOCK, 0, &mut ram), Answer::Unsupported(FAILED, _)));
    }
    for _ in 0..15 {
        opened(&mut debugger, b":tt", 4);
    }
    let mut ram = Ram::new(&[BUFFER, 4, 3], b":tt");
    assert_eq!(value(&mut debugger, 0x01, &mut ram), FAILED, "sixteen are open");
}

#[test]
fn time_is_that_of_the_chip() {
    let mut debugger = Debugger::default();
    let mut ram = Ram::new(&[0, 0], b"");
    assert_eq!(debugger.execute_call(0x10, 0, 2_345_678_000, &mut ram), Answer::Value(234));
    assert_eq!(debugger.execute_call(0x11, 0, 2_345_678_000, &mut ram), Answer::Value(2));
    assert_eq!(debugger.execute_call(0x31, 0, 0, &mut ram), Answer::Value(1_000_000));
    assert_eq!(debugger.execute_call(0x30, BLOCK, 2_345_678_000, &mut ram), Answer::Value(0));
    assert_eq!(ram.0[..8], 2_345_678_u64.to_le_bytes());
}

#[test]
fn exit_gives_its_code() {
    let mut debugger = Debugger::default();
    let mut ram = Ram::new(&[APPLICATION_EXIT, 7], b"");
    assert_eq!(debugger.execute_call(0x18, APPLICATION_EXIT, 0, &mut ram), Answer::Exit(0));
    assert_eq!(debugger.execute_call(0x18, 0x2_0023, 0, &mut ram), Answer::Exit(1));
    assert_eq!(debugger.execute_call(0x20, BLOCK, 0, &mut ram), Answer::Exit(7));
    assert_eq!(debugger.execute_call(0x20, BLOCK, 0, &mut Ram::new(&[0x2_0023, 7], b"")), Answer::Exit(1));
}

#[test]
fn parameters_outside_memory_fail() {
    let mut debugger = Debugger::default();
    let mut ram = Ram::new(&[1, 0xf000_0000, 4], b"");
    for operation in [0x02, 0x03, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x15, 0x16] {
        let answer = debugger.execute_call(operation, 0xf000_0000, 0, &mut ram);
        assert!(matches!(answer, Answer::Unsupported(FAILED, _)), "0x{operation:02x}: {answer:?}");
    }
    opened(&mut debugger, b":tt", 4);
    assert!(matches!(debugger.execute_call(0x05, BLOCK, 0, &mut ram), Answer::Unsupported(FAILED, _)));
    let mut ram = Ram::new(&[BUFFER, 8], b"");
    assert_eq!(value(&mut debugger, 0x15, &mut ram), 0);
    assert_eq!((ram.0[0x40], &ram.0[4..8]), (0, &[0; 4][..]));
    assert_eq!(value(&mut debugger, 0x16, &mut Ram::new(&[BUFFER], b"")), 0);
}
