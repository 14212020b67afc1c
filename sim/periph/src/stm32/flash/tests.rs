use super::*;
use crate::stm32::effects::FlashErase;
use crate::stm32::testing::Bench;

const BASE: u32 = 0x0800_0000;
const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

fn flash(spec: &'static Spec, kb: u32) -> (Bench, Flash) {
    (Bench::new(), Flash::new(spec, BASE, kb * 1024))
}

#[test]
fn access_control_reads_back_what_exists() {
    for (name, spec, reset, written) in [
        ("F1", &F1, 0x30, 0x3f),
        ("F4", &F4, 0, 0x1f0f),
        ("F7", &F7, 0, 0x0b0f),
        ("H7", &H7, 0x37, 0x3f),
        ("L0", &L0, 0, 0x7b),
    ] {
        let (mut bench, mut flash) = flash(spec, 64);
        assert_eq!(flash.read_register(0, &mut bench.access()), reset, "{name}");
        flash.write_register(0, u32::MAX, &mut bench.access());
        assert_eq!(flash.read_register(0, &mut bench.access()), written, "{name}");
        assert!(bench.effects.flash_timing_changed);
        bench.effects.flash_timing_changed = false;
        flash.write_register(0, u32::MAX, &mut bench.access());
        assert!(!bench.effects.flash_timing_changed, "{name}: nothing new");
    }
}

#[test]
fn h7_shows_the_common_registers_twice() {
    let (mut bench, mut h7) = flash(&H7, 2048);
    h7.write_register(0x100, 0x12, &mut bench.access());
    assert_eq!((h7.read_register(0, &mut bench.access()), h7.read_register(0x100, &mut bench.access())), (0x12, 0x12));
    assert_eq!(h7.read_register(0x118, &mut bench.access()), 1);
    let (mut bench, mut f7) = flash(&F7, 2048);
    f7.write_register(0x100, 0x12, &mut bench.access());
    assert_eq!((f7.read_register(0, &mut bench.access()), f7.read_register(0x100, &mut bench.access())), (0, 0));
}

#[test]
fn control_decodes_acr() {
    let (mut bench, mut f4) = flash(&F4, 512);
    f4.write_register(0, 0x705, &mut bench.access());
    let control = f4.current_flash_read_settings();
    let seen = (control.wait_states, control.prefetch, control.instruction_cache, control.data_cache, control.acr);
    assert_eq!(seen, (5, true, true, true, 0x705));
    let (mut bench, mut f1) = flash(&F1, 128);
    f1.write_register(0, 0x0a, &mut bench.access());
    let control = f1.current_flash_read_settings();
    assert_eq!((control.wait_states, control.prefetch, control.half_cycle, control.acr), (2, false, true, 0x0a));
    let (mut bench, mut l0) = flash(&L0, 64);
    for (acr, want) in [(0x43, (1, true, true, false)), (0x63, (1, false, false, true))] {
        l0.write_register(0, acr, &mut bench.access());
        let control = l0.current_flash_read_settings();
        assert_eq!((control.wait_states, control.prefetch, control.pre_read, control.buffers_off), want);
    }
}

#[test]
fn caches_are_reset_only_while_off() {
    let (mut bench, mut f4) = flash(&F4, 512);
    f4.write_register(0, 3 << 11 | 3 << 9, &mut bench.access());
    assert_eq!(bench.effects.flash_cache_reset, (false, false));
    f4.write_register(0, 1 << 11, &mut bench.access());
    assert_eq!(bench.effects.flash_cache_reset, (true, false));
    f4.write_register(0, 1 << 12, &mut bench.access());
    assert_eq!(bench.effects.flash_cache_reset, (true, true));
}

/// Erase and program on each kind: key, control register, (erase command, start), region erased.
#[test]
fn erase_and_program() {
    struct Case {
        name: &'static str,
        spec: &'static Spec,
        kb: u32,
        key: u32,
        cr: u32,
        sr: u32,
        busy: u32,
        erase: &'static [(u32, u32)],
        region: (u32, u32),
        program: u32,
        bytes: u32,
    }
    let cases = [
        Case {
            name: "F1",
            spec: &F1,
            kb: 128,
            key: 4,
            cr: 0x10,
            sr: 0x0c,
            busy: 1,
            erase: &[(0x10, 2), (0x14, 0x0800_0c10), (0x10, 0x42)],
            region: (0x0800_0c00, 1024),
            program: 1,
            bytes: 2,
        },
        Case {
            name: "F4 sector 4",
            spec: &F4,
            kb: 512,
            key: 4,
            cr: 0x10,
            sr: 0x0c,
            busy: 1 << 16,
            erase: &[(0x10, 2 | 4 << 3 | 1 << 16)],
            region: (0x0801_0000, 0x1_0000),
            program: 0x201,
            bytes: 4,
        },
        Case {
            name: "F4 sector 7",
            spec: &F4,
            kb: 512,
            key: 4,
            cr: 0x10,
            sr: 0x0c,
            busy: 1 << 16,
            erase: &[(0x10, 2 | 7 << 3 | 1 << 16)],
            region: (0x0806_0000, 0x2_0000),
            program: 0x201,
            bytes: 1,
        },
        Case {
            name: "F7 sector 5",
            spec: &F7,
            kb: 2048,
            key: 4,
            cr: 0x10,
            sr: 0x0c,
            busy: 1 << 16,
            erase: &[(0x10, 2 | 5 << 3 | 1 << 16)],
            region: (0x0804_0000, 0x4_0000),
            program: 0x201,
            bytes: 4,
        },
        Case {
            name: "H7 bank 2",
            spec: &H7,
            kb: 2048,
            key: 0x104,
            cr: 0x10c,
            sr: 0x110,
            busy: 5,
            erase: &[(0x10c, 4 | 3 << 8 | 1 << 7)],
            region: (0x0816_0000, 0x2_0000),
            program: 2,
            bytes: 4,
        },
        Case {
            name: "F4 all",
            spec: &F4,
            kb: 512,
            key: 4,
            cr: 0x10,
            sr: 0x0c,
            busy: 1 << 16,
            erase: &[(0x10, 4 | 1 << 16)],
            region: (0x0800_0000, 512 * 1024),
            program: 0x201,
            bytes: 4,
        },
    ];
    for case in cases {
        let (mut bench, mut flash) = flash(case.spec, case.kb);
        let name = case.name;
        // Locked: neither the control register nor a store does anything.
        let locked = flash.read_register(case.cr, &mut bench.access());
        flash.write_register(case.cr, case.program, &mut bench.access());
        assert_eq!(flash.read_register(case.cr, &mut bench.access()), locked, "{name}");
        let last = case.region.0 + 28;
        assert_eq!(flash.handle_store_to_flash(last, case.bytes, &mut bench.access()), FlashStore::Refused, "{name}");
        for key in KEYS {
            flash.write_register(case.key, key, &mut bench.access());
        }
        for &(offset, value) in case.erase {
            flash.write_register(offset, value, &mut bench.access());
        }
        let (address, bytes) = case.region;
        assert_eq!(bench.effects.erase, [FlashErase { address, bytes, value: 0xff }], "{name}");
        assert_eq!(flash.read_register(case.sr, &mut bench.access()) & case.busy, case.busy, "{name}");
        let due = flash.next_event_cycle();
        // 20 ms at least, 16 cycles to the microsecond.
        assert!(due >= 20_000 * 16, "{name}: {due}");
        assert_eq!(flash.read_register(case.sr, &mut bench.access_at(due)) & case.busy, 0, "{name}");
        flash.write_register(case.cr, case.program, &mut bench.access());
        assert_eq!(flash.handle_store_to_flash(last, case.bytes, &mut bench.access()), FlashStore::Program, "{name}");
        assert_eq!(
            flash.handle_store_to_flash(last, case.bytes, &mut bench.access()) == FlashStore::Refused,
            flash.next_event_cycle() != NEVER,
            "{name}"
        );
        let due = if flash.next_event_cycle() == NEVER { bench.now } else { flash.next_event_cycle() };
        flash.advance_to_now(&mut bench.access_at(due));
        flash.write_register(case.cr, locked, &mut bench.access());
        assert_eq!(
            flash.handle_store_to_flash(last, case.bytes, &mut bench.access()),
            FlashStore::Refused,
            "{name}: locked again"
        );
    }
}

#[test]
fn wrong_key_locks_until_reset() {
    let (mut bench, mut flash) = flash(&F4, 512);
    for key in [KEYS[0], 1, KEYS[0], KEYS[1]] {
        flash.write_register(4, key, &mut bench.access());
    }
    assert_eq!(flash.read_register(0x10, &mut bench.access()) >> 31, 1);
    flash.reset_registers();
    for key in KEYS {
        flash.write_register(4, key, &mut bench.access());
    }
    assert_eq!(flash.read_register(0x10, &mut bench.access()) >> 31, 0);
}

#[test]
fn errors_and_interrupts() {
    let (mut bench, mut flash) = flash(&F1, 128);
    for key in KEYS {
        flash.write_register(4, key, &mut bench.access());
    }
    flash.write_register(0x10, 1 | 1 << 10 | 1 << 12, &mut bench.access());
    // The F1 programs half words only.
    assert_eq!(flash.handle_store_to_flash(BASE, 4, &mut bench.access()), FlashStore::Refused);
    assert_eq!((flash.read_register(0x0c, &mut bench.access()), flash.interrupt_outputs()), (4, 1));
    flash.write_register(0x0c, 4, &mut bench.access());
    assert_eq!(flash.interrupt_outputs(), 0);
    assert_eq!(flash.handle_store_to_flash(BASE, 2, &mut bench.access()), FlashStore::Program);
    // 52.5 us at 16 MHz.
    assert_eq!(flash.next_event_cycle(), 840);
    flash.advance_to_now(&mut bench.access_at(840));
    assert_eq!((flash.read_register(0x0c, &mut bench.access()), flash.interrupt_outputs()), (1 << 5, 1));
}

#[test]
fn h7_programs_256_bits_at_a_time() {
    let (mut bench, mut flash) = flash(&H7, 2048);
    for key in KEYS {
        flash.write_register(4, key, &mut bench.access());
    }
    flash.write_register(0x0c, 2, &mut bench.access());
    for word in 0..8 {
        assert_eq!(flash.next_event_cycle(), NEVER);
        assert_eq!(flash.handle_store_to_flash(BASE + 4 * word, 4, &mut bench.access()), FlashStore::Program);
    }
    assert_ne!(flash.next_event_cycle(), NEVER);
    let due = flash.next_event_cycle();
    flash.advance_to_now(&mut bench.access_at(due));
    assert_eq!(flash.read_register(0x10, &mut bench.access()), 1 << 16);
    flash.write_register(0x14, 1 << 16, &mut bench.access());
    assert_eq!(flash.read_register(0x10, &mut bench.access()), 0);
}

#[test]
fn l0_locks_words_and_pages() {
    let (mut bench, mut flash) = flash(&L0, 64);
    assert_eq!((flash.read_register(4, &mut bench.access()), flash.read_register(0x18, &mut bench.access())), (7, 0xc));
    // The program key counts only after the first lock.
    for key in [0x8c9d_aebf, 0x1314_1516] {
        flash.write_register(0x10, key, &mut bench.access());
    }
    assert_eq!(flash.read_register(4, &mut bench.access()), 7);
    for (offset, key) in [(0x0c, 0x89ab_cdef), (0x0c, 0x0203_0405), (0x10, 0x8c9d_aebf), (0x10, 0x1314_1516)] {
        flash.write_register(offset, key, &mut bench.access());
    }
    assert_eq!(flash.read_register(4, &mut bench.access()), 4);
    assert_eq!(flash.handle_store_to_flash(BASE + 0x100, 4, &mut bench.access()), FlashStore::Program);
    // 3.2 ms at 16 MHz.
    assert_eq!((flash.read_register(0x18, &mut bench.access()), flash.next_event_cycle()), (1, 51_200));
    flash.advance_to_now(&mut bench.access_at(51_200));
    assert_eq!(flash.read_register(0x18, &mut bench.access()), 0xc | EOP_FLAG);
    flash.write_register(4, 1 << 3 | 1 << 9, &mut bench.access());
    assert_eq!(flash.handle_store_to_flash(BASE + 0x1fc, 4, &mut bench.access()), FlashStore::Refused);
    assert_eq!(bench.effects.erase, [FlashErase { address: BASE + 0x180, bytes: 128, value: 0 }]);
    let due = flash.next_event_cycle();
    flash.advance_to_now(&mut bench.access_at(due));
    // The data EEPROM needs the first lock only, and takes bytes.
    flash.write_register(4, 2, &mut bench.access());
    assert_eq!(flash.handle_store_to_flash(0x0808_0001, 1, &mut bench.access()), FlashStore::Program);
    let due = flash.next_event_cycle();
    flash.advance_to_now(&mut bench.access_at(due));
    assert_eq!(flash.handle_store_to_flash(BASE, 4, &mut bench.access()), FlashStore::Refused);
    flash.write_register(4, 1, &mut bench.access());
    assert_eq!(
        (flash.read_register(4, &mut bench.access()), flash.handle_store_to_flash(0x0808_0001, 1, &mut bench.access())),
        (7, FlashStore::Refused)
    );
}

const EOP_FLAG: u32 = l0::EOP;

#[test]
fn l0_half_pages_are_one_operation() {
    let (mut bench, mut flash) = flash(&L0, 64);
    for (offset, key) in [(0x0c, 0x89ab_cdef), (0x0c, 0x0203_0405), (0x10, 0x8c9d_aebf), (0x10, 0x1314_1516)] {
        flash.write_register(offset, key, &mut bench.access());
    }
    flash.write_register(4, 1 << 3 | 1 << 10, &mut bench.access());
    for word in 0..16 {
        assert_eq!(flash.next_event_cycle(), NEVER, "word {word}");
        assert_eq!(flash.handle_store_to_flash(BASE + 4 * word, 4, &mut bench.access()), FlashStore::Program);
    }
    assert_eq!(flash.next_event_cycle(), 51_200);
}

#[test]
fn option_bytes_as_delivered() {
    for (name, spec, offset, value) in [
        ("F1 OBR", &F1, 0x1c, 0x03ff_fffc),
        ("F4 OPTCR", &F4, 0x14, 0x0fff_aaed),
        ("F7 OPTCR", &F7, 0x14, 0xffff_aafd),
        ("F7 OPTCR1", &F7, 0x18, 0x0040_0080),
        ("H7 OPTCR", &H7, 0x18, 1),
        ("H7 BOOT_CURR", &H7, 0x40, 0x1ff0_0800),
        ("L0 OPTR", &L0, 0x1c, 0x8070_00aa),
    ] {
        let (mut bench, mut flash) = flash(spec, 64);
        flash.write_register(offset, 0, &mut bench.access());
        assert_eq!(flash.read_register(offset, &mut bench.access()), value, "{name}");
    }
    // OPTCR opens with its keys and closes with OPTLOCK.
    let (mut bench, mut flash) = flash(&F4, 512);
    for key in [0x0819_2a3b, 0x4c5d_6e7f] {
        flash.write_register(8, key, &mut bench.access());
    }
    assert_eq!(flash.read_register(0x14, &mut bench.access()), 0x0fff_aaec);
    flash.write_register(0x14, 0x0fff_aae3, &mut bench.access());
    flash.write_register(0x14, 0, &mut bench.access());
    assert_eq!(flash.read_register(0x14, &mut bench.access()), 0x0fff_aae1);
}
