//! Calls into the modelled boot ROM: its functions see registers and memory, and the core pays their cycles.

use rtoslab_cpu::bus::Bus;
use rtoslab_cpu::core::Core;
use rtoslab_cpu::exception;
use super::romstub::{self as bootrom, RomHost, RomOutcome};

use super::machine::StopReason;
use super::system::System;

struct Host<'a> {
    core: &'a mut Core,
    system: &'a mut System,
}

impl RomHost for Host<'_> {
    fn reg(&self, number: usize) -> u32 {
        self.core.r[number]
    }

    fn set_reg(&mut self, number: usize, value: u32) {
        self.core.r[number] = value;
    }

    fn set_flags(&mut self, n: bool, z: bool, c: bool, v: bool) {
        let bits = u32::from(n) << 31 | u32::from(z) << 30 | u32::from(c) << 29 | u32::from(v) << 28;
        self.core.set_apsr(bits);
    }

    fn read8(&mut self, address: u32) -> u8 {
        let mut unused = self.core.t;
        self.system.load_plain(self.core, address, 1, &mut unused) as u8
    }

    fn read32(&mut self, address: u32) -> u32 {
        let mut unused = self.core.t;
        self.system.load_plain(self.core, address, 4, &mut unused)
    }

    fn write8(&mut self, address: u32, value: u8) {
        self.system.store_plain(self.core, address, 1, u32::from(value));
    }

    fn write32(&mut self, address: u32, value: u32) {
        self.system.store_plain(self.core, address, 4, value);
    }

    fn flash_erase(&mut self, offset: u32, bytes: u32) {
        self.system.change_flash(offset, bytes, |byte, _| *byte = 0xff);
    }

    fn flash_program(&mut self, offset: u32, data: &[u8]) {
        self.system.change_flash(offset, data.len() as u32, |byte, index| *byte &= data[index]);
    }

    fn flash_flush_cache(&mut self) {
        self.system.flush_xip();
    }
}

impl System {
    fn load_plain(&mut self, core: &mut Core, address: u32, bytes: u32, t: &mut u64) -> u32 {
        self.load::<false>(core, address, bytes, t).unwrap_or(0)
    }

    fn store_plain(&mut self, core: &mut Core, address: u32, bytes: u32, value: u32) {
        let mut unused = core.t;
        // A ROM function that writes nowhere writes nothing, like the ROM's own stores.
        let _ = self.store::<false>(core, address, bytes, value, &mut unused);
    }

    /// Empties the XIP cache.
    pub(super) fn flush_xip(&mut self) {
        for line in self.xip.flush() {
            self.refresh_line(line);
        }
    }

    /// Changes flash bytes; what lies outside the flash is ignored, as the chip select would do.
    fn change_flash(&mut self, offset: u32, bytes: u32, change: impl Fn(&mut u8, usize)) {
        let size = self.flash_len() as u32;
        let start = offset.min(size) & !3;
        let end = offset.saturating_add(bytes).min(size);
        for (index, at) in (start..end).enumerate() {
            change(&mut self.periph.ssi.flash.bytes_mut()[at as usize], index);
        }
        self.invalidate_flash(start, end - start);
        self.flush_xip();
    }

    /// Runs ROM function `id` for the core that called it, and returns to LR.
    pub(super) fn call_rom(&mut self, core: &mut Core, id: u8) {
        let outcome = bootrom::call(id, &mut Host { core, system: self });
        match outcome {
            RomOutcome::Return { cycles } => {
                core.t += cycles;
                let target = core.r[14];
                exception::jump(core, self, target);
            }
            RomOutcome::EnterUsbBoot => {
                let (pc, t) = (core.pc(), core.t);
                let detail = "the firmware asked the boot ROM for USB boot mode".to_owned();
                self.stop_at(StopReason::UsbBoot, core, pc, t, detail);
            }
        }
    }
}
