//! Bit operations, memory fill and copy, table lookup and flash functions.

use super::{FlashCommand, RomFunctionHost, RomFunctionOutcome, id};

/// Average cycles printed beside the functions in the ROM's own source (documented; 9.6 rounded up).
const POPCOUNT_CYCLES: u32 = 20;
const REVERSE_CYCLES: u32 = 22;
const CLZ_CYCLES: u32 = 10;
const CTZ_CYCLES: u32 = 11;
/// Assumed, by counting the instructions of a straightforward loop.
const LOOKUP_CYCLES_PER_ENTRY: u32 = 11;
const FILL_CYCLES: u32 = 20;
const FLASH_CALL_CYCLES: u32 = 200;

/// Typical times of the Pico's W25Q16JV (its data sheet, AC characteristics), in microseconds.
const SECTOR_ERASE_US: u64 = 45_000;
const BLOCK_ERASE_US: u64 = 150_000;
const PAGE_PROGRAM_US: u64 = 400;
const SECTOR_BYTES: u32 = 4096;
const BLOCK_BYTES: u32 = 65_536;
const PAGE_BYTES: u32 = 256;

/// Runs one memory or bit function of the ROM, and returns its cycles.
pub(super) fn run_rom_memory_function(function: u8, host: &mut dyn RomFunctionHost) -> u32 {
    let value = host.core_register(0);
    let (result, cycles) = match function {
        id::POPCOUNT32 => (value.count_ones(), POPCOUNT_CYCLES),
        id::REVERSE32 => (value.reverse_bits(), REVERSE_CYCLES),
        id::CLZ32 => (value.leading_zeros(), CLZ_CYCLES),
        id::CTZ32 => (value.trailing_zeros(), CTZ_CYCLES),
        id::MEMSET | id::MEMSET4 => return run_memset(host),
        id::MEMCPY | id::MEMCPY44 => return run_memcpy(host),
        _ => run_rom_table_lookup(host),
    };
    host.set_core_register(0, result);
    cycles
}

/// Runs `rom_table_lookup(table, code)`. Returns the half-pointer stored with the code, or 0, and the cycles.
fn run_rom_table_lookup(host: &mut dyn RomFunctionHost) -> (u32, u32) {
    let (mut entry, code) = (host.core_register(0), host.core_register(1) & 0xffff);
    let mut cycles = LOOKUP_CYCLES_PER_ENTRY;
    let half = |host: &mut dyn RomFunctionHost, address: u32| {
        u32::from(host.read_byte(address)) | u32::from(host.read_byte(address.wrapping_add(1))) << 8
    };
    // A table has a handful of entries. The bound keeps a wild pointer from looping for ever.
    for _ in 0..1024 {
        let value = half(host, entry);
        if value == 0 {
            return (0, cycles);
        }
        if value == code {
            return (half(host, entry.wrapping_add(2)), cycles);
        }
        entry = entry.wrapping_add(4);
        cycles += LOOKUP_CYCLES_PER_ENTRY;
    }
    (0, cycles)
}

/// Runs `memset(r0, r1, r2)`, which returns r0: word stores when aligned, about one cycle per word (assumed).
fn run_memset(host: &mut dyn RomFunctionHost) -> u32 {
    let (start, byte, count) = (host.core_register(0), host.core_register(1) as u8, host.core_register(2));
    for n in 0..count {
        host.write_byte(start.wrapping_add(n), byte);
    }
    let aligned = start & 3 == 0;
    FILL_CYCLES + if aligned { count / 4 * 5 / 4 + count % 4 * 4 } else { count * 4 }
}

/// Runs `memcpy(r0, r1, r2)`, which returns r0: multiple loads and stores when both ends are aligned (assumed).
fn run_memcpy(host: &mut dyn RomFunctionHost) -> u32 {
    let (to, from, count) = (host.core_register(0), host.core_register(1), host.core_register(2));
    for n in 0..count {
        let byte = host.read_byte(from.wrapping_add(n));
        host.write_byte(to.wrapping_add(n), byte);
    }
    let aligned = (to | from) & 3 == 0;
    FILL_CYCLES + if aligned { count / 4 * 5 / 2 + count % 4 * 6 } else { count * 6 }
}

/// Runs one flash function of the ROM.
pub(super) fn run_flash_function(function: u8, host: &mut dyn RomFunctionHost) -> RomFunctionOutcome {
    let (offset, second, third) = (host.core_register(0), host.core_register(1), host.core_register(2));
    let busy_us = match function {
        id::FLASH_RANGE_ERASE => {
            host.run_flash_command(FlashCommand::Erase { offset, count: second });
            erase_microseconds(offset, second, third)
        }
        id::FLASH_RANGE_PROGRAM => {
            let data = (0..third).map(|n| host.read_byte(second.wrapping_add(n))).collect();
            host.run_flash_command(FlashCommand::Program { offset, data });
            u64::from(third.div_ceil(PAGE_BYTES)) * PAGE_PROGRAM_US
        }
        _ => {
            host.run_flash_command(match function {
                id::CONNECT_INTERNAL_FLASH => FlashCommand::Connect,
                id::FLASH_EXIT_XIP => FlashCommand::ExitXip,
                id::FLASH_FLUSH_CACHE => FlashCommand::FlushCache,
                _ => FlashCommand::EnterXip,
            });
            return RomFunctionOutcome::Return { cycles: FLASH_CALL_CYCLES };
        }
    };
    RomFunctionOutcome::ReturnAfterFlash { cycles: FLASH_CALL_CYCLES, busy_us }
}

/// Returns the microseconds of an erase. Whole blocks of `block_bytes` are erased at once where they fit, single
/// sectors elsewhere.
fn erase_microseconds(offset: u32, count: u32, block_bytes: u32) -> u64 {
    let (mut at, end) = (u64::from(offset), u64::from(offset) + u64::from(count));
    let block = u64::from(if block_bytes == BLOCK_BYTES { BLOCK_BYTES } else { 0 });
    let mut busy_us = 0;
    while at < end {
        if block != 0 && at % block == 0 && at + block <= end {
            busy_us += BLOCK_ERASE_US;
            at += block;
        } else {
            busy_us += SECTOR_ERASE_US;
            at += u64::from(SECTOR_BYTES);
        }
    }
    busy_us
}
