//! The boot ROM's work at reset (RP2040 data sheet 2.8), modelled rather than executed.
//!
//! Core 0: watchdog boot if the scratch registers ask for it, else the second-stage boot block of flash, copied to
//! the end of SRAM5 and entered with LR = 0. An image that lives in SRAM is entered directly, as after loading it
//! over USB or a debugger. Core 1 runs the ROM's wait loop, which is real code in the modelled ROM.

use rtoslab_cpu::v6m::core::Phase;
use rtoslab_cpu::v6m::exception;

use rtoslab_periph::rp2040::bootrom;

use super::machine::Machine;
use super::map::{FLASH_BASE, SRAM_BASE, SRAM_BYTES};
use crate::image::{ImageError, ParsedImageFile};

/// The ROM's stack ends where the boot block's copy starts.
const BOOT_STACK: u32 = 0x2004_1f00;
/// Watchdog boot magic: SCRATCH4, and the key that SCRATCH5 is combined with.
const WATCHDOG_MAGIC: u32 = 0xb007_c0d3;
const WATCHDOG_KEY: u32 = 0x4ff8_3f2d;

impl Machine {
    /// Copies an image into the memories. Errors: a piece outside flash and SRAM, no valid boot block.
    pub(super) fn copy_image_to_memory(&mut self, image: &ParsedImageFile, name: &str) -> Result<(), ImageError> {
        let flash_end = u64::from(FLASH_BASE) + self.system.flash_size() as u64;
        let sram_end = u64::from(SRAM_BASE + SRAM_BYTES);
        for (address, bytes) in &image.segments {
            let end = u64::from(*address) + bytes.len() as u64;
            let memory = match *address {
                FLASH_BASE.. if end <= flash_end => {
                    &mut self.system.periph.ssi.flash.flash_content_mut()[(address - FLASH_BASE) as usize..]
                }
                SRAM_BASE.. if *address < SRAM_BASE + SRAM_BYTES && end <= sram_end => {
                    &mut self.system.sram[(address - SRAM_BASE) as usize..]
                }
                _ => {
                    return Err(ImageError(format!(
                        "{name} has {} bytes for 0x{address:08x}, which is neither in the board's {} kB of flash nor in its SRAM; link it for this board",
                        bytes.len(),
                        self.system.flash_size() >> 10
                    )));
                }
            };
            memory[..bytes.len()].copy_from_slice(bytes);
        }
        self.entry_in_sram = (SRAM_BASE..SRAM_BASE + SRAM_BYTES)
            .contains(&image.entry)
            .then_some(image.entry)
            .filter(|_| image.segments.iter().all(|(address, _)| *address >= SRAM_BASE));
        if self.entry_in_sram.is_none()
            && !bootrom::is_boot_block_valid(&self.system.periph.ssi.flash.flash_content()[..256])
        {
            return Err(ImageError(format!(
                "{name} has no valid second-stage boot block at 0x10000000 (checksum of its first 256 bytes is wrong), so a real board would not boot it either; link one in front"
            )));
        }
        Ok(())
    }

    /// Starts both cores as at power-on or after a watchdog reset.
    pub(super) fn boot_cores(&mut self) {
        self.locked = None;
        for core in self.cores.iter_mut() {
            core.reset_core();
        }
        self.system.first = 0;
        let core0 = &mut self.cores[0];
        core0.phase = Phase::Run;
        let watchdog = &mut self.system.periph.watchdog;
        let scratch: [u32; 8] = std::array::from_fn(|n| watchdog.scratch_register(n));
        let (stack, target) = if scratch[4] == WATCHDOG_MAGIC && scratch[5] == scratch[7] ^ WATCHDOG_KEY {
            watchdog.set_scratch_register(4, 0);
            (scratch[6] & !3, scratch[7] | 1)
        } else if let Some(entry) = self.entry_in_sram {
            (SRAM_BASE + SRAM_BYTES, entry | 1)
        } else {
            let at = (BOOT_STACK - SRAM_BASE) as usize;
            let block = &self.system.periph.ssi.flash.flash_content()[..256];
            self.system.sram[at..at + 256].copy_from_slice(block);
            self.system.invalidate_sram_code(BOOT_STACK - SRAM_BASE, 256);
            (BOOT_STACK, BOOT_STACK | 1)
        };
        core0.r[13] = stack;
        self.system.set_state_after_boot_rom(core0.t);
        exception::jump_to_interworking_address(core0, &mut *self.system, target);
        if self.core_count == 2 {
            self.start_core1();
        }
    }

    /// Starts core 1 in the ROM's wait-for-vector routine.
    pub(super) fn start_core1(&mut self) {
        let core1 = &mut self.cores[1];
        core1.reset_core();
        self.system.first = 0;
        core1.phase = Phase::Run;
        core1.r[13] = BOOT_STACK;
        exception::jump_to_interworking_address(core1, &mut *self.system, bootrom::CORE1_WAIT | 1);
    }
}
