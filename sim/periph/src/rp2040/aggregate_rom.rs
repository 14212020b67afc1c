//! The boot ROM's effects on the peripherals: flash functions and resets of the whole chip.

use super::bootrom::FlashCommand;
use super::*;
use crate::{Access, ClockTree, Effects, Peripheral};

/// The cause of a restart of the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetCause {
    /// Power-on: everything starts from its reset value, the watchdog's scratch registers included.
    PowerOn,
    /// The RUN pin: as power-on, but CHIP_RESET tells them apart.
    RunPin,
    /// The watchdog or its TRIGGER: PSM.WDSEL and RESETS.WDSEL choose what restarts; scratch survives.
    Watchdog,
}

/// Stage numbers in the power-on state machine (data sheet 2.13).
const PSM_ROSC: u32 = 0;
const PSM_XOSC: u32 = 1;
const PSM_CLOCKS: u32 = 2;
const PSM_RESETS: u32 = 3;
const PSM_XIP: u32 = 12;
const PSM_VREG: u32 = 13;
const PSM_SIO: u32 = 14;
const PSM_PROC0: u32 = 15;
const PSM_PROC1: u32 = 16;

/// SSI set-up for serial single-lane transfers of bytes, and for execute-in-place with command 0x03.
const SSI_SERIAL: [(u32, u32); 5] = [(0x08, 0), (0x14, 6), (0x00, 7 << 16), (0x10, 1), (0x08, 1)];
const SSI_XIP_03: [(u32, u32); 6] =
    [(0x08, 0), (0x14, 6), (0x00, 31 << 16 | 3 << 8), (0x04, 0), (0xf4, 3 << 24 | 2 << 8 | 6 << 2), (0x08, 1)];

impl Rp2040Peripherals {
    /// Carries out a flash function of the boot ROM. The XIP cache is the machine's: it flushes when
    /// `effects.xip_flush` is set.
    pub fn execute_rom_flash_command(&mut self, command: &FlashCommand, now_cycles: u64, effects: &mut Effects) {
        match command {
            FlashCommand::Connect => self.write_ssi_registers(&SSI_SERIAL, now_cycles, effects),
            FlashCommand::ExitXip => self.write_ssi_registers(&SSI_SERIAL, now_cycles, effects),
            FlashCommand::Erase { offset, count } => self.ssi.flash.erase_bytes(*offset as usize, *count as usize),
            FlashCommand::Program { offset, data } => self.ssi.flash.program_bytes(*offset as usize, data),
            FlashCommand::FlushCache => {
                effects.xip_flush = true;
                self.io_qspi.release_chip_select();
                self.ssi.flash.force_chip_select(None);
            }
            FlashCommand::EnterXip => self.write_ssi_registers(&SSI_XIP_03, now_cycles, effects),
        }
    }

    /// Writes registers of the SSI as a ROM function does: (offset, value).
    fn write_ssi_registers(&mut self, writes: &[(u32, u32)], now_cycles: u64, effects: &mut Effects) {
        let tree: ClockTree = self.clock_tree().clone();
        let mut access = Access { now_cycles, core: 0, clocks: &tree, effects };
        for &(offset, value) in writes {
            self.ssi.write_register(offset, value, &mut access);
        }
    }

    /// Resets the chip's peripherals. Flash contents, bytes from the host and the pins' outside levels stay. Returns
    /// the cores that the machine must reset (bit 0: core 0, bit 1: core 1). Afterwards the machine copies the clock
    /// frequencies and samples the pins.
    pub fn reset_chip_peripherals(&mut self, cause: ResetCause, now_cycles: u64) -> u32 {
        let psm = if cause == ResetCause::Watchdog { self.psm.stages_restarted_by_watchdog() } else { u32::MAX };
        // Restarting a stage restarts all that follow it.
        let first = psm.trailing_zeros();
        let restarts = |stage: u32| first <= stage;
        let mut effects = Effects::default();
        if restarts(PSM_ROSC) {
            self.rosc.reset_registers();
        }
        if restarts(PSM_XOSC) {
            self.xosc.reset_registers();
        }
        if restarts(PSM_CLOCKS) {
            self.clocks.reset_registers();
        }
        let held = if restarts(PSM_RESETS) {
            self.resets.reset_registers();
            RESETS_MASK
        } else {
            let selected = self.resets.blocks_reset_by_watchdog();
            self.resets.force_resets(self.resets.blocks_in_reset() | selected);
            selected
        };
        effects.resets = Some((held, 0));
        if restarts(PSM_XIP) {
            self.ssi.reset_registers();
            self.xip_ctrl.reset_registers();
        }
        if restarts(PSM_VREG) {
            self.vreg.reset_registers();
        }
        if restarts(PSM_SIO) {
            self.sio.reset();
            self.sio.gpio_hi.set_input_levels(aggregate::CS_PULLED_UP);
        }
        self.psm.reset_registers();
        match cause {
            ResetCause::PowerOn => {
                self.watchdog.reset_registers();
                self.vreg.set_reset_cause(HAD_POR);
            }
            ResetCause::RunPin => {
                self.watchdog.reset_registers();
                self.vreg.set_reset_cause(HAD_RUN);
            }
            ResetCause::Watchdog => self.watchdog.reset_keeping_scratch(),
        }
        effects.clocks_changed = true;
        self.apply_reset_and_clock_effects(now_cycles, &mut effects);
        self.update_pins(now_cycles);
        u32::from(restarts(PSM_PROC0)) | u32::from(restarts(PSM_PROC1)) << 1
    }

    /// Sets the state of the peripherals in which the boot ROM enters boot2: the used blocks are out of reset, and the
    /// flash interface is in serial mode.
    pub fn set_state_after_boot_rom(&mut self, now_cycles: u64, effects: &mut Effects) {
        let used = 1 << reset_bit::IO_QSPI | 1 << reset_bit::PADS_QSPI | 1 << reset_bit::PADS_BANK0;
        self.resets.force_resets(self.resets.blocks_in_reset() & !used);
        self.write_ssi_registers(&SSI_XIP_03, now_cycles, effects);
        effects.pins_changed = true;
    }
}
