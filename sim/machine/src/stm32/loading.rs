//! An image on its way into the memories, and the core's start.

use std::sync::Arc;

use rtoslab_cpu::v7m::exception;
use rtoslab_cpu::v7m::features::Features;
use rtoslab_cpu::v7m::scb;
use rtoslab_periph::stm32::Chip;

use super::chip::{FLASH_BASE, RAM_BASE};
use super::families::Run;
use super::machine::Machine;
use super::own_table::find_image_vector_table;
use super::system::Home;
use crate::image::{Core, ImageError, ParsedImageFile};

impl<F: Run> Machine<F> {
    /// Loads an ELF image and resets the board.
    pub fn load_image(&mut self, data: &[u8], name: &str) -> Result<(), ImageError> {
        let image = ParsedImageFile::parse_firmware_image(data, name)?;
        image.check_core_can_execute(self.core_type(), name)?;
        for (address, bytes) in &image.segments {
            self.copy_segment(*address, bytes, name)?;
        }
        let home = |address| self.system.memory_at(address);
        self.own_table = find_image_vector_table(
            &image,
            |address| home(address).and_then(|(home, offset)| (home == Home::Flash).then_some(offset)),
            |address| matches!(home(address), Some((Home::Ram | Home::Area(_), _))),
        );
        self.symbols = image.symbols.into();
        self.system.stop = None;
        self.start_core();
        Ok(())
    }

    /// Returns the type of core (such as M3 or M7), by its features.
    fn core_type(&self) -> Core {
        match self.system.map.features {
            Features { caches: true, .. } => Core::M7,
            Features { float: true, .. } => Core::M4F,
            _ => Core::M3,
        }
    }

    /// Copies a segment of an image into the memory at its address.
    fn copy_segment(&mut self, address: u32, bytes: &[u8], name: &str) -> Result<(), ImageError> {
        let system = &mut self.system;
        let home = system.memory_at(address);
        let content = match home {
            Some((Home::Flash, offset)) => Arc::make_mut(&mut system.flash).get_mut(offset as usize..),
            Some((Home::Ram, offset)) => system.ram.get_mut(offset as usize..),
            Some((Home::Area(index), offset)) => system.memories[index].bytes.get_mut(offset as usize..),
            None => None,
        };
        match content {
            Some(memory) if memory.len() >= bytes.len() => {
                memory[..bytes.len()].copy_from_slice(bytes);
                if let Some((home, offset)) = home {
                    system.drop_decoded_ops(home, offset, bytes.len() as u32);
                }
                Ok(())
            }
            _ => Err(ImageError(format!(
                "{name} has {} bytes for 0x{address:08x}, which are not all in one of the chip's memories ({} kB of flash at 0x{FLASH_BASE:08x}, {} kB of RAM at 0x{RAM_BASE:08x}); link it for this board",
                bytes.len(),
                system.map.flash_bytes >> 10,
                system.map.ram_bytes >> 10
            ))),
        }
    }

    /// Starts the core as after reset.
    pub(super) fn start_core(&mut self) {
        self.core.reset_core();
        self.observer.iter_mut().for_each(|observer| observer.note_core_reset(0));
        self.core.t = self.core.t.max(self.now);
        self.system.passed_until = None;
        self.system.apply_clock_changes(&mut self.core, self.now);
        self.system.lines = [0; 5];
        self.system.switch_caches(&self.core);
        if self.system.debugger.opens_itm {
            let at = self.core.t;
            scb::set_trace_enable_bit(&mut self.core, at);
            self.core.itm.enable_stimulus_ports();
        }
        let table = self.own_table.unwrap_or(self.system.periph.boot_address());
        exception::start_core(&mut self.core, &mut *self.system, &mut self.pipe, table);
        if self.own_table.is_none() && self.chip != Chip::H743 && self.chip != Chip::F767 {
            // The table is read at address 0, where the flash shows.
            self.core.scb.vtor = 0;
        }
    }
}
