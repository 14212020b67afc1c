//! Decoded code: what the tables show of each instruction, and when they forget it.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v6m::decode::{Place, decode_instruction};
use rtoslab_cpu::v6m::op::{Code, Op};
use rtoslab_cpu::v6m::region::Region;

use super::map::{FLASH_BASE, ROM_BYTES, SRAM_BASE, SRAM_BYTES, slave};
use super::system::{MARK_CODE, System};
use crate::xip::{FILL_BYTES, LINE_BYTES};

impl System {
    /// Updates the stub ops of a cache line, and that of a 32-bit opcode which reaches into it.
    pub(super) fn update_stub_ops_of_cache_line(&mut self, line: u32) {
        let first = (line * LINE_BYTES).saturating_sub(2);
        let last = (line * LINE_BYTES + LINE_BYTES).min(self.flash_size() as u32);
        for offset in (first..last).step_by(2) {
            self.update_decoded_op(FLASH_BASE + offset);
        }
    }

    /// Updates the op of an address, after probes on its instruction changed.
    pub(super) fn redecode_at(&mut self, address: u32) {
        self.update_decoded_op(address);
        self.alone.translations.forget_all_translations();
        self.pairs.forget_native_code();
    }

    /// Updates the op of an address, if an instruction was decoded there.
    fn update_decoded_op(&mut self, address: u32) {
        let Some(ip) = self.decoded_op_at(address) else {
            return;
        };
        // SAFETY: `decoded_op_at` returns pointers into the tables.
        unsafe {
            if (*ip).code != Code::Undecoded {
                *ip = self.op_in_decoded_code_table(address, self.decode_instruction_at(address));
            }
        }
    }

    /// Returns the op of an address in the table of decoded code. `None` outside of code.
    pub(super) fn decoded_op_at(&mut self, address: u32) -> Option<*mut Op> {
        match address {
            FLASH_BASE..=0x10ff_ffff => {
                let offset = self.flash_offset_of_cached_address(address);
                Some(self.flash_code.op_at_offset(offset))
            }
            SRAM_BASE..=0x2004_1fff => Some(self.sram_code.op_at_offset(address - SRAM_BASE)),
            0..ROM_BYTES => Some(self.rom_code.op_at_offset(address)),
            _ => None,
        }
    }

    /// Decodes the instruction at an address, without regard to the table of decoded code.
    pub(super) fn decode_instruction_at(&self, address: u32) -> Op {
        let (region_base, region_bytes) = match address >> 28 {
            0 => (0, ROM_BYTES),
            1 => (FLASH_BASE, self.flash_size() as u32),
            _ => (SRAM_BASE, SRAM_BYTES),
        };
        let place = Place { address, region_base, region_bytes, cached: address >> 28 == 1, rom: address >> 28 == 0 };
        decode_instruction(self.fetch_halfword(address), self.fetch_halfword(address.wrapping_add(2)), place)
    }

    /// Returns the instruction at an address with a probe, and the number of the probe's site (place in the list of
    /// probed addresses).
    pub(super) fn instruction_with_probes_at(&mut self, address: u32) -> (Op, u32) {
        let halfwords = self.fetch_halfwords(address);
        if let Some(known) = self.known.find_decoded_instruction(address, halfwords) {
            return known;
        }
        let (decoded, site) = (self.decode_instruction_at(address), self.probes.probe_site_number(address));
        self.known.cache_decoded_instruction(address, halfwords, decoded, site)
    }

    /// Returns whether the cache does not contain all of an instruction in flash.
    pub(super) fn is_not_cached(&self, address: u32, decoded: Op) -> bool {
        address >> 28 == 1 && {
            let offset = self.flash_offset_of_cached_address(address);
            !self.xip.is_cached(offset / FILL_BYTES)
                || decoded.is_wide() && !self.xip.is_cached((offset + 2) / FILL_BYTES)
        }
    }

    /// Returns the op that the table contains for an instruction: its own, or the stub op for a probe or a missing
    /// cache line.
    pub(super) fn op_in_decoded_code_table(&self, address: u32, decoded: Op) -> Op {
        if self.is_not_cached(address, decoded) || self.probes.is_instruction_probed(address) {
            Op::without_operands(Code::Attend)
        } else {
            decoded
        }
    }

    /// Forgets decoded SRAM code in `offset..offset + bytes`, and a 32-bit opcode that reaches into it.
    pub(super) fn invalidate_sram_code(&mut self, offset: u32, bytes: u32) {
        let first = (offset & !1).saturating_sub(2);
        for at in (first..offset + bytes).step_by(2) {
            // SAFETY: `op` returns a pointer into the table.
            let old = unsafe { std::mem::take(&mut *self.sram_code.op_at_offset(at)) };
            if old.code != Code::Undecoded {
                self.drop_cached_timing_and_native_code();
            }
        }
    }

    /// Forgets decoded SRAM code that was overwritten, if there was any.
    pub(super) fn forget_overwritten_code(&mut self, offset: u32, bytes: u32) {
        if self.marks[(offset >> 8) as usize] & MARK_CODE != 0 {
            self.invalidate_sram_code(offset, bytes);
        }
    }

    /// Drops the decoded code of a page of SRAM to which the core at `pc` stores, unless the core executes in that
    /// page. Data or stack are often where start-up code ran before, such as the second stage of the boot.
    pub(super) fn drop_decoded_code_page(&mut self, pc: u32, offset: u32) {
        let page = (offset >> 8) as usize;
        let here = pc.wrapping_sub(SRAM_BASE) >> 8 == offset >> 8;
        if self.marks[page] & MARK_CODE != 0 && !here && !std::mem::replace(&mut self.dropped[page], true) {
            self.invalidate_sram_code(offset & !0xff, 0x100);
            self.marks[page] &= !MARK_CODE;
        }
    }

    /// Forgets all decoded flash code (flash was programmed).
    pub(super) fn invalidate_flash_code(&mut self, offset: u32, bytes: u32) {
        self.drop_cached_timing_and_native_code();
        for at in (offset..offset + bytes).step_by(2) {
            // SAFETY: `op` returns a pointer into the table.
            unsafe { *self.flash_code.op_at_offset(at) = Op::default() };
        }
    }

    /// Returns a halfword of code, without side effects. 0 outside memory.
    fn fetch_halfword(&self, address: u32) -> u16 {
        let at = |memory: &[u8], offset: u32| {
            let offset = offset as usize;
            memory.get(offset..offset + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
        };
        match address >> 28 {
            0 => at(&self.rom, address),
            1 => at(self.periph.ssi.flash.flash_content(), self.flash_offset_of_cached_address(address)),
            _ => at(&self.sram, address.wrapping_sub(SRAM_BASE)),
        }
    }

    /// Returns two consecutive halfwords of code, without side effects.
    #[inline]
    fn fetch_halfwords(&self, address: u32) -> [u16; 2] {
        let rest =
            || self.periph.ssi.flash.flash_content().get(self.flash_offset_of_cached_address(address) as usize..);
        match rest().filter(|_| address >> 28 == 1).and_then(<[u8]>::first_chunk) {
            Some(&[a, b, c, d]) => [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])],
            None => [self.fetch_halfword(address), self.fetch_halfword(address.wrapping_add(2))],
        }
    }

    /// Returns the region of code in SRAM that contains an offset.
    pub(super) fn sram_region(&mut self, offset: u32) -> Region {
        if offset < 0x40000 {
            return Region {
                bytes: 0x40000,
                ..self.sram_code.code_region(System::first_bus_slot_of_slave(slave::SRAM0), 4)
            };
        }
        let bank = offset >> 12 & 1;
        let start = 0x40000 + bank * 0x1000;
        let whole = self.sram_code.code_region(System::first_bus_slot_of_slave(slave::SRAM4 + bank as usize), 1);
        // SAFETY: ops and profile cells of the bank start `start / 2` elements into the table.
        let skip =
            |cells: *mut ProfileCell| unsafe { if cells.is_null() { cells } else { cells.add(start as usize / 2) } };
        Region {
            base: SRAM_BASE + start,
            bytes: 0x1000,
            ops: self.sram_code.op_at_offset(start),
            profile: whole.profile.map(skip),
            ..whole
        }
    }
}
