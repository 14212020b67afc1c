//! The ROM as firmware meets it: through the header, the tables and the calls.

use super::*;

#[derive(Default)]
struct Host {
    regs: [u32; 15],
    memory: std::collections::BTreeMap<u32, u8>,
    flags: Option<(bool, bool, bool, bool)>,
    flash: Vec<FlashCommand>,
}

impl RomFunctionHost for Host {
    fn core_register(&self, n: usize) -> u32 {
        self.regs[n]
    }
    fn set_core_register(&mut self, n: usize, value: u32) {
        self.regs[n] = value;
    }
    fn read_byte(&mut self, address: u32) -> u8 {
        self.memory.get(&address).copied().unwrap_or(0)
    }
    fn read_word(&mut self, address: u32) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|n| self.read_byte(address + n as u32)))
    }
    fn write_byte(&mut self, address: u32, value: u8) {
        self.memory.insert(address, value);
    }
    fn write_word(&mut self, address: u32, value: u32) {
        for (n, byte) in value.to_le_bytes().into_iter().enumerate() {
            self.write_byte(address + n as u32, byte);
        }
    }
    fn set_flags(&mut self, n: bool, z: bool, c: bool, v: bool) {
        self.flags = Some((n, z, c, v));
    }
    fn run_flash_command(&mut self, command: FlashCommand) {
        self.flash.push(command);
    }
}

fn half(rom: &[u8], address: usize) -> u16 {
    u16::from_le_bytes([rom[address], rom[address + 1]])
}

fn word(rom: &[u8], address: usize) -> u32 {
    u32::from(half(rom, address)) | u32::from(half(rom, address + 2)) << 16
}

/// Calls `id` with the given registers and returns R0 to R3.
fn run(id: u8, args: &[u32]) -> [u32; 4] {
    let mut host = Host::default();
    host.regs[..args.len()].copy_from_slice(args);
    assert!(matches!(call_rom_function(id, &mut host), RomFunctionOutcome::Return { cycles } if cycles > 0));
    [host.regs[0], host.regs[1], host.regs[2], host.regs[3]]
}

fn f32_call(index: u8, x: f32, y: f32) -> f32 {
    f32::from_bits(run(id::FLOAT + index, &[x.to_bits(), y.to_bits()])[0])
}

fn f64_call(index: u8, x: f64, y: f64) -> f64 {
    let (x, y) = (x.to_bits(), y.to_bits());
    let out = run(id::DOUBLE + index, &[x as u32, (x >> 32) as u32, y as u32, (y >> 32) as u32]);
    f64::from_bits(u64::from(out[1]) << 32 | u64::from(out[0]))
}

#[test]
fn header_and_vectors() {
    let rom = boot_rom_content();
    assert_eq!(rom.len(), 16384);
    assert_eq!(&rom[0x10..0x14], &[b'M', b'u', 1, 3]);
    assert_eq!(word(&rom, 4), stub_address(id::COLD_BOOT) | 1);
    assert_eq!(half(&rom, stub_address(id::COLD_BOOT) as usize), 0xde00);
    assert_eq!(half(&rom, DEAD_LOOP as usize), 0xbf30);
    assert_eq!(half(&rom, DEAD_LOOP as usize + 2), 0xe7fd);
}

#[test]
fn lookup_finds_every_documented_code() {
    let rom = boot_rom_content();
    let mut host = Host::default();
    host.memory.extend(rom.iter().enumerate().map(|(n, &byte)| (n as u32, byte)));
    let lookup = half(&rom, 0x18);
    assert_eq!(half(&rom, usize::from(lookup & !1)), 0xde00 | u16::from(id::TABLE_LOOKUP));
    let mut find = |table: usize, code: &[u8; 2]| {
        host.regs[0] = u32::from(half(&rom, table));
        host.regs[1] = u32::from(u16::from_le_bytes(*code));
        call_rom_function(id::TABLE_LOOKUP, &mut host);
        host.regs[0]
    };
    for code in [b"P3", b"R3", b"L3", b"T3", b"MS", b"S4", b"MC", b"C4", b"UB", b"IF", b"EX", b"RE", b"RP", b"FC"] {
        let pointer = find(0x14, code);
        assert_eq!(pointer & 1, 1, "{code:?}");
        assert_eq!(half(&rom, pointer as usize & !1) >> 8, 0xde, "{code:?}");
    }
    assert_eq!(find(0x14, b"CX"), stub_address(id::FLASH_ENTER_CMD_XIP) | 1);
    assert_eq!(find(0x14, b"WV"), CORE1_WAIT | 1);
    assert_eq!(find(0x14, b"xx"), 0);
    assert_eq!(rom[find(0x16, b"CR") as usize], b'r');
    assert_ne!(find(0x16, b"GR"), 0);
    let (single, double) = (find(0x16, b"SF") as usize, find(0x16, b"SD") as usize);
    assert_eq!((rom[single - 2], rom[double - 2]), (32, 32));
    assert_eq!((single % 4, double % 4), (0, 0));
    for n in 0..32 {
        assert_eq!(word(&rom, single + 4 * n), stub_address(id::FLOAT + n as u8) | 1);
        assert_eq!(word(&rom, double + 4 * n), stub_address(id::DOUBLE + n as u8) | 1);
    }
    assert!(find(0x16, b"FE") as usize >= double + 128);
}

#[test]
fn bit_functions() {
    assert_eq!(run(id::POPCOUNT32, &[0xf0f1])[0], 9);
    assert_eq!(run(id::REVERSE32, &[0x8000_0001])[0], 0x8000_0001);
    assert_eq!(run(id::REVERSE32, &[0x1])[0], 0x8000_0000);
    assert_eq!((run(id::CLZ32, &[0x0001_0000])[0], run(id::CLZ32, &[0])[0]), (15, 32));
    assert_eq!((run(id::CTZ32, &[0x0001_0000])[0], run(id::CTZ32, &[0])[0]), (16, 32));
}

#[test]
fn memory_functions_return_the_destination() {
    let mut host = Host::default();
    host.regs[..3].copy_from_slice(&[0x2000_0001, 0x1ab, 3]);
    call_rom_function(id::MEMSET, &mut host);
    assert_eq!((host.regs[0], host.read_word(0x2000_0000)), (0x2000_0001, 0xabab_ab00));
    host.regs[..3].copy_from_slice(&[0x2000_0010, 0x2000_0000, 4]);
    call_rom_function(id::MEMCPY44, &mut host);
    assert_eq!((host.regs[0], host.read_word(0x2000_0010)), (0x2000_0010, 0xabab_ab00));
}

#[test]
fn single_precision_arithmetic_rounds_to_nearest_even() {
    assert_eq!(f32_call(0, 1.5, 2.25), 3.75);
    assert_eq!(f32_call(1, 1.5, 2.25), -0.75);
    assert_eq!(f32_call(2, 16_777_215.0, 3.0), 50_331_645.0f32);
    assert_eq!(f32_call(3, 1.0, 3.0).to_bits(), 0x3eaa_aaab);
    assert_eq!(f32_call(6, 2.0, 0.0).to_bits(), 0x3fb5_04f3);
    assert_eq!(f32_call(22, 1.0, -1.0).to_bits(), 0x4016_cbe4);
}

#[test]
fn denormals_are_zero_and_nans_are_infinite() {
    let tiny = f32::from_bits(0x0040_0000);
    assert_eq!(f32_call(0, tiny, tiny).to_bits(), 0);
    assert_eq!(f32_call(2, f32::MIN_POSITIVE, -0.5).to_bits(), 0x8000_0000);
    assert_eq!(f32_call(0, f32::NAN, 1.0), f32::INFINITY);
    assert_eq!(f32_call(2, f32::NEG_INFINITY, 0.0), f32::NEG_INFINITY);
    assert_eq!((f32_call(6, -1.0, 0.0), f32_call(20, -1.0, 0.0)), (f32::NEG_INFINITY, f32::NEG_INFINITY));
    assert_eq!(f64_call(0, f64::from_bits(1), 0.0).to_bits(), 0);
    assert_eq!(f64_call(6, -1.0, 0.0), f64::NEG_INFINITY);
}

#[test]
fn conversions_floor_clamp_and_scale() {
    let to = |index: u8, x: f32, n: u32| run(id::FLOAT + index, &[x.to_bits(), n])[0];
    assert_eq!(to(7, -1.5, 0) as i32, -2);
    assert_eq!((to(7, 3e9, 0) as i32, to(9, -1.0, 0), to(9, 5e9, 0)), (i32::MAX, 0, u32::MAX));
    assert_eq!((to(8, 0.5, 16), to(10, 1.25, 8)), (0x8000, 0x140));
    let from = |index: u8, args: &[u32]| f32::from_bits(run(id::FLOAT + index, args)[0]);
    assert_eq!((from(11, &[-7i32 as u32]), from(13, &[u32::MAX])), (-7.0, 4_294_967_296.0));
    assert_eq!((from(12, &[-8i32 as u32, 4]), from(14, &[8, 4])), (-0.5, 0.5));
    assert_eq!((from(23, &[0, u32::MAX]), from(26, &[0, 1, 32])), (-4_294_967_296.0, 1.0));
    assert_eq!(run(id::FLOAT + 27, &[(-2.5f32).to_bits()])[..2], [-3i32 as u32, u32::MAX]);
    assert_eq!(run(id::FLOAT + 30, &[1.5f32.to_bits(), 33])[..2], [0, 3]);
    let wide = 1.5f64.to_bits();
    assert_eq!(run(id::FLOAT + 31, &[1.5f32.to_bits()])[..2], [wide as u32, (wide >> 32) as u32]);
}

#[test]
fn compare_returns_order_or_flags() {
    assert_eq!(run(id::FLOAT + 4, &[1f32.to_bits(), 2f32.to_bits()])[0], u32::MAX);
    assert_eq!(run(id::FLOAT + 4, &[2f32.to_bits(), 1f32.to_bits()])[0], 1);
    assert_eq!(run(id::FLOAT + 4, &[0, 0x8000_0000])[0], 0);
    for (x, y, flags) in
        [(1f32, 2f32, (true, false, false)), (2.0, 2.0, (false, true, true)), (3.0, 2.0, (false, false, true))]
    {
        let mut host = Host::default();
        host.regs[..2].copy_from_slice(&[x.to_bits(), y.to_bits()]);
        call_rom_function(id::FLOAT + 5, &mut host);
        assert_eq!(host.flags, Some((flags.0, flags.1, flags.2, false)));
    }
}

#[test]
fn sine_leaves_the_cosine_in_r1() {
    let out = run(id::FLOAT + 16, &[0.5f32.to_bits()]);
    assert_eq!(out[..2], [0x3ef5_7744, 0x3f60_a940]);
    assert_eq!(run(id::FLOAT + 15, &[0.5f32.to_bits()])[..2], [0x3f60_a940, 0x3ef5_7744]);
    let half = 0.5f64.to_bits();
    let out = run(id::DOUBLE + 18, &[half as u32, (half >> 32) as u32]);
    let value = |low: usize| f64::from_bits(u64::from(out[low + 1]) << 32 | u64::from(out[low]));
    assert!((value(0) - 0.479_425_538_604_203).abs() < 1e-15);
    assert!((value(2) - 0.877_582_561_890_372_8).abs() < 1e-15);
}

#[test]
fn double_precision() {
    assert_eq!(f64_call(0, 0.1, 0.2).to_bits(), 0x3fd3_3333_3333_3334);
    assert_eq!(f64_call(1, 1.0, 3.0), -2.0);
    assert_eq!(f64_call(2, 3.0, -0.5), -1.5);
    assert_eq!(f64_call(3, 1.0, 3.0).to_bits(), 0x3fd5_5555_5555_5555);
    assert_eq!(f64_call(19, 0.0, 0.0), 1.0);
    assert_eq!(f64_call(20, 1.0, 0.0), 0.0);
    let args = |x: f64, n: u32| [x.to_bits() as u32, (x.to_bits() >> 32) as u32, n];
    assert_eq!(run(id::DOUBLE + 7, &args(-0.5, 0))[0], u32::MAX);
    assert_eq!(run(id::DOUBLE + 10, &args(0.5, 16))[0], 0x8000);
    assert_eq!(run(id::DOUBLE + 29, &args(-1.0, 0))[..2], [0, 0]);
    assert_eq!(run(id::DOUBLE + 31, &args(1.0 / 3.0, 0))[0], 0x3eaa_aaab);
    assert_eq!(run(id::DOUBLE + 12, &[-8i32 as u32, 4])[1], 0xbfe0_0000);
}

#[test]
fn flash_functions_reach_the_host_and_take_flash_time() {
    let mut host = Host::default();
    host.regs[..4].copy_from_slice(&[0x1_0000, 0x1_1000, 0x1_0000, 0xd8]);
    let outcome = call_rom_function(id::FLASH_RANGE_ERASE, &mut host);
    assert_eq!(outcome, RomFunctionOutcome::ReturnAfterFlash { cycles: 200, busy_us: 150_000 + 45_000 });
    host.write_word(0x2000_0000, 0x0403_0201);
    host.regs[..3].copy_from_slice(&[0x100, 0x2000_0000, 4]);
    let outcome = call_rom_function(id::FLASH_RANGE_PROGRAM, &mut host);
    assert_eq!(outcome, RomFunctionOutcome::ReturnAfterFlash { cycles: 200, busy_us: 400 });
    call_rom_function(id::FLASH_FLUSH_CACHE, &mut host);
    let want = [
        FlashCommand::Erase { offset: 0x1_0000, count: 0x1_1000 },
        FlashCommand::Program { offset: 0x100, data: vec![1, 2, 3, 4] },
        FlashCommand::FlushCache,
    ];
    assert_eq!(host.flash, want);
}

#[test]
fn other_outcomes() {
    let mut host = Host::default();
    host.regs[..2].copy_from_slice(&[1 << 25, 2]);
    let usb = RomFunctionOutcome::EnterUsbBoot { gpio_mask: 1 << 25, disable_mask: 2 };
    assert_eq!(call_rom_function(id::RESET_TO_USB_BOOT, &mut host), usb);
    assert_eq!(call_rom_function(id::COLD_BOOT, &mut host), RomFunctionOutcome::ColdBoot);
    assert_eq!(call_rom_function(0x80, &mut host), RomFunctionOutcome::Undefined);
    assert_eq!(call_rom_function(0x3f, &mut host), RomFunctionOutcome::Undefined);
}

#[test]
fn boot_block_checksum() {
    // The catalogued check value of this CRC (CRC-32/MPEG-2).
    assert_eq!(second_stage_bootloader_crc(b"123456789"), 0x0376_e6e7);
    let mut block = vec![0x5a; 300];
    assert!(!is_boot_block_valid(&block));
    let crc = second_stage_bootloader_crc(&block[..252]);
    block[252..256].copy_from_slice(&crc.to_le_bytes());
    assert!(is_boot_block_valid(&block));
    block[10] ^= 1;
    assert!(!is_boot_block_valid(&block));
    assert!(!is_boot_block_valid(&block[..255]));
}

#[test]
fn thumb_code_is_what_the_assembler_makes_of_its_mnemonics() {
    // CRCs of the two pieces as GNU as assembles the mnemonics beside the code.
    let rom = boot_rom_content();
    let pen = CORE1_WAIT as usize;
    assert_eq!(second_stage_bootloader_crc(&rom[pen..pen + 104]), 0xe27f_c416);
    let trampoline = DEBUG_TRAMPOLINE as usize;
    assert_eq!(second_stage_bootloader_crc(&rom[trampoline..trampoline + 10]), 0xa81d_5c63);
}

#[test]
fn erase_time_uses_blocks_only_where_they_fit() {
    let busy = |offset: u32, count: u32, block: u32| {
        let mut host = Host::default();
        host.regs[..3].copy_from_slice(&[offset, count, block]);
        match call_rom_function(id::FLASH_RANGE_ERASE, &mut host) {
            RomFunctionOutcome::ReturnAfterFlash { busy_us, .. } => busy_us,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(busy(0, 0x1_0000, 0x1_0000), 150_000);
    assert_eq!(busy(0, 0x1_0000, 0), 16 * 45_000);
    assert_eq!(busy(0x1000, 0x1_0000, 0x1_0000), 16 * 45_000);
    assert_eq!(busy(0xf000, 0x1_1000, 0x1_0000), 45_000 + 150_000);
    assert_eq!(busy(0x1_0000, 0xf000, 0x1_0000), 15 * 45_000);
}

#[test]
fn nan_arguments_count_as_infinities_of_their_sign() {
    for (single, double, want) in [
        (0x7fc0_0001, 0x7ff8_0000_0000_0001, f32::INFINITY),
        (0xffc0_0001, 0xfff8_0000_0000_0001, f32::NEG_INFINITY),
        (0x7f80_0001, 0x7ff0_0000_0000_0001, f32::INFINITY),
    ] {
        assert_eq!(f32_call(0, f32::from_bits(single), 1.0), want);
        assert_eq!(f64_call(0, f64::from_bits(double), 1.0), f64::from(want));
    }
    assert_eq!(f64_call(2, f64::INFINITY, -2.0), f64::NEG_INFINITY);
    assert_eq!(f64_call(3, 1.0, 0.0), f64::INFINITY);
}
