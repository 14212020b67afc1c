//! Every block of the chip, with its address decoder.

use super::bus_map::{Block, peripheral_block_at_address};
use super::dispatch::{on_block, scheduled, with_block};
use super::limits::RegisterAccessKind;
use super::*;
use crate::device::{AttachedDevice, AttachedDevices, Connection};
use crate::{Access, ClockTree, Effects, NEVER, Peripheral};

/// Levels of the 30 GPIO pads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PinLevels {
    /// Level of each pad.
    pub levels: u32,
    /// Pads that the chip drives.
    pub driven: u32,
}

/// All peripherals of one RP2040. Blocks are public so that instruments can look at them. The machine goes
/// through the methods, which keep the due time and the clock tree right.
#[derive(Debug, Clone)]
pub struct Rp2040Peripherals {
    /// Single-cycle I/O: the machine calls it directly, it is not on the bus.
    pub sio: Sio,
    /// RESETS.
    pub resets: Resets,
    /// CLOCKS.
    pub clocks: Clocks,
    /// PLL_SYS.
    pub pll_sys: Pll,
    /// PLL_USB.
    pub pll_usb: Pll,
    /// XOSC.
    pub xosc: Xosc,
    /// ROSC.
    pub rosc: Rosc,
    /// WATCHDOG.
    pub watchdog: Watchdog,
    /// TIMER.
    pub timer: Timer,
    /// UART0 and UART1.
    pub uarts: [Uart; 2],
    /// PSM.
    pub psm: Psm,
    /// IO_BANK0.
    pub io_bank0: IoBank0,
    /// IO_QSPI.
    pub io_qspi: IoQspi,
    /// PADS_BANK0.
    pub pads_bank0: Pads,
    /// PADS_QSPI.
    pub pads_qspi: Pads,
    /// SSI, and the flash chip after it.
    pub ssi: Ssi,
    /// XIP control.
    pub xip_ctrl: XipCtrl,
    /// VREG_AND_CHIP_RESET.
    pub vreg: Vreg,
    /// SYSINFO.
    pub sysinfo: Sysinfo,
    /// SYSCFG.
    pub syscfg: Syscfg,
    /// BUSCTRL.
    pub busctrl: Busctrl,
    /// TBMAN.
    pub tbman: Tbman,
    /// SPI0 and SPI1.
    pub spis: [Spi; 2],
    /// I2C0 and I2C1.
    pub i2cs: [I2c; 2],
    /// ADC.
    pub adc: Adc,
    /// PWM.
    pub pwm: Pwm,
    /// RTC.
    pub rtc: Rtc,
    /// DMA.
    pub dma: Dma,
    /// Devices at serial ports and pins.
    pub attachments: AttachedDevices,
    usb_dpram: RegFile,
    usb: RegFile,
    /// PIO0 and PIO1.
    pub pios: [Pio; 2],
    xip_aux: RegFile,
    tree: ClockTree,
    due: u64,
    /// Levels the outside world drives, and which pads it drives.
    outside: u32,
    outside_driven: u32,
    pins: PinLevels,
}

impl Rp2040Peripherals {
    /// Creates a chip after power-on, with a crystal of `crystal_hz` and `flash` bytes of erased flash.
    #[must_use]
    pub fn new(crystal_hz: u64, flash: usize) -> Self {
        let (pll_sys, pll_usb) = (Pll::default(), Pll::default());
        let (xosc, rosc, watchdog) = (Xosc::new(crystal_hz), Rosc::default(), Watchdog::default());
        let clocks = Clocks::default();
        let tree = frequencies_of_all_clocks(&clocks, &pll_sys, &pll_usb, &xosc, &rosc, &watchdog);
        let mut all = Self {
            sio: Sio::default(),
            resets: Resets::default(),
            clocks,
            pll_sys,
            pll_usb,
            xosc,
            rosc,
            watchdog,
            timer: Timer::default(),
            uarts: [Uart::new(0, 20), Uart::new(1, 21)],
            psm: Psm::default(),
            io_bank0: IoBank0::default(),
            io_qspi: IoQspi::default(),
            pads_bank0: Pads::gpio_bank(),
            pads_qspi: Pads::flash_pin_bank(),
            ssi: Ssi::new(Flash::new(flash)),
            xip_ctrl: XipCtrl::default(),
            vreg: Vreg::default(),
            sysinfo: Sysinfo,
            syscfg: Syscfg::default(),
            busctrl: Busctrl::default(),
            tbman: Tbman,
            spis: [Spi::new(18), Spi::new(19)],
            i2cs: [I2c::new(23), I2c::new(24)],
            adc: Adc::default(),
            pwm: Pwm::default(),
            rtc: Rtc::default(),
            dma: Dma::default(),
            attachments: AttachedDevices::default(),
            usb_dpram: RegFile::new(0x1000, &[]),
            usb: RegFile::new(0x100, &USB_FIXED),
            pios: [Pio::new(7), Pio::new(9)],
            xip_aux: RegFile::new(4, &[]),
            tree,
            due: NEVER,
            outside: 0,
            outside_driven: 0,
            pins: PinLevels::default(),
        };
        all.sio.gpio_hi.set_input_levels(CS_PULLED_UP);
        all
    }

    /// Returns the frequencies in force. Copy them again after every call that sets `effects.clocks_changed`.
    #[must_use]
    pub fn clock_tree(&self) -> &ClockTree {
        &self.tree
    }

    /// Returns a sentence about a clock or PLL beyond the data sheet's limits (RP2040 data sheet 2.15, 2.18, 5.2.3;
    /// clk_sys up to 200 MHz with a core supply of 1.15 V or more). `None` if there is none.
    #[must_use]
    pub fn clock_limit_warning(&self) -> Option<String> {
        const MHZ: u64 = 1_000_000;
        let tree = &self.tree;
        let sys_most = if self.vreg.output_millivolts() >= 1150 { 200 * MHZ } else { 133 * MHZ };
        let rows = [
            ("clk_sys", tree.sys_hz, sys_most),
            ("clk_ref", tree.ref_hz, 133 * MHZ),
            ("clk_peri", tree.peri_hz, sys_most),
            ("clk_usb", tree.usb_hz, 48 * MHZ),
            ("clk_adc", tree.adc_hz, 48 * MHZ),
        ];
        let clock = rows.iter().find(|(_, hz, most)| hz > most);
        if let Some((name, hz, most)) = clock {
            return Some(format!("{name}: {hz} Hz is beyond the {most} Hz that the data sheet allows"));
        }
        let vcos = [("PLL_SYS", self.pll_sys.vco_hz(self.xosc.hz())), ("PLL_USB", self.pll_usb.vco_hz(self.xosc.hz()))];
        let vco = vcos.iter().find(|(_, hz)| *hz != 0 && !(750 * MHZ..=1600 * MHZ).contains(hz));
        vco.map(|(name, hz)| format!("{name}: its oscillator cannot reach {hz} Hz; 750 to 1600 MHz are allowed"))
    }

    /// Returns the clk_sys cycle at which [`Self::process_due_events`] must be called next, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn next_advance_cycle(&self) -> u64 {
        self.due
    }

    /// Returns the name of the block at `address`, or `None` where nothing answers.
    #[must_use]
    pub fn name_of_peripheral_at_address(&self, address: u32) -> Option<&'static str> {
        peripheral_block_at_address(address).map(Block::data_sheet_name)
    }

    /// Returns whether RESETS holds a block in reset.
    fn is_held_in_reset(&self, block: Block) -> bool {
        block.reset_bit().is_some_and(|bit| self.resets.blocks_in_reset() >> bit & 1 != 0)
    }

    /// Recomputes the cycle of the next event of all blocks.
    pub(super) fn update_next_event_cycle(&mut self) {
        let mut due = NEVER;
        scheduled!(self, block => due = due.min(block.next_event_cycle()));
        self.due = due;
    }

    /// Returns whether reading a register has no effect, and its value changes only when it is written to, at
    /// [`Self::next_advance_cycle`], or by what the host sends.
    #[must_use]
    pub fn is_register_steady(&self, address: u32) -> bool {
        matches!(peripheral_block_at_address(address), Some(Block::Uart0 | Block::Uart1))
            && matches!(address & 0xffc, 0x18 | 0x3c | 0x40)
    }

    /// Reads a word. Unknown addresses and blocks in reset give 0.
    pub fn read_register(&mut self, address: u32, access: &mut Access) -> u32 {
        let Some(block) = peripheral_block_at_address(address) else {
            return 0;
        };
        if self.is_held_in_reset(block) {
            return 0;
        }
        let offset = address & 0xffc;
        let value = with_block!(self, block, b => b.read_register(offset, access));
        access.effects.limit = access
            .effects
            .limit
            .or_else(|| limits::find_limit_of_unsupported_access(block, RegisterAccessKind::Read, offset, value));
        // Polling is the commonest access, and the only read that moves a schedule ahead of time is one that
        // makes room in a FIFO of a UART, or that brings one of the blocks named here up to date.
        let takes_byte = match block {
            Block::Uart0 | Block::Uart1 => offset == 0,
            Block::Pio0 | Block::Pio1 | Block::Spi0 | Block::Spi1 | Block::I2c0 | Block::I2c1 | Block::Adc => true,
            _ => false,
        };
        if takes_byte || self.due <= access.now_cycles {
            self.apply_access_effects_on_other_blocks(access);
        }
        value
    }

    /// Writes a word, already replicated from narrower stores. `alias`: 0 plain, 1 XOR, 2 SET, 3 CLR, which
    /// is `address >> 12 & 3`; the alias bits of the address itself are ignored.
    pub fn write_register(&mut self, address: u32, value: u32, alias: u32, access: &mut Access) {
        let Some(block) = peripheral_block_at_address(address) else {
            return;
        };
        if self.is_held_in_reset(block) {
            return;
        }
        let offset = address & 0xffc;
        with_block!(self, block, b => {
            let value = match alias & 3 {
                _ if b.is_strobe(offset) => value,
                0 => value,
                1 => b.peek_register(offset, access) ^ value,
                2 => b.peek_register(offset, access) | value,
                _ => b.peek_register(offset, access) & !value,
            };
            b.write_register(offset, value, access);
            access.effects.limit = access.effects.limit.or_else(|| limits::find_limit_of_unsupported_access(block, RegisterAccessKind::Write, offset, value));
        });
        if block == Block::IoBank0 {
            self.pwm.set_shown_outputs(self.io_bank0.pwm_outputs_shown_on_pins(), access);
        }
        if block == Block::IoQspi && self.ssi.flash.force_chip_select(self.io_qspi.forced_chip_select()) {
            access.effects.limit = Some(&limits::RAW_FLASH);
        }
        if block == Block::Dma {
            self.pass_awaited_dma_requests_to_pio(access);
        }
        self.apply_access_effects_on_other_blocks(access);
    }

    /// Processes the events of all peripherals that are due. The machine calls it when [`Self::next_advance_cycle`] is
    /// reached.
    pub fn process_due_events(&mut self, access: &mut Access) {
        scheduled!(self, block => block.advance_to_now(access));
        self.apply_access_effects_on_other_blocks(access);
    }

    /// Returns the clk_sys cycle of the next event of a PIO, which comes before accesses in the same cycle.
    #[inline]
    #[must_use]
    pub fn next_pio_event_cycle(&self) -> u64 {
        self.pios[0].next_event_cycle().min(self.pios[1].next_event_cycle())
    }

    /// Processes the due events of the PIOs only.
    pub fn process_due_pio_events(&mut self, access: &mut Access) {
        for pio in &mut self.pios {
            pio.advance_to_now(access);
        }
        self.update_next_event_cycle();
    }

    /// Applies the effects of an access on other blocks, and recomputes the cycle of the next event.
    fn apply_access_effects_on_other_blocks(&mut self, access: &mut Access) {
        let Effects { clocks_changed, resets, .. } = access.effects;
        if *clocks_changed || resets.is_some() {
            self.apply_reset_and_clock_effects(access.now_cycles, access.effects);
        } else {
            self.update_next_event_cycle();
        }
    }

    /// Applies the effects of an access on the peripherals: resets and clock changes. `clocks_changed` stays set, so
    /// that the machine copies the frequencies again.
    pub fn apply_reset_and_clock_effects(&mut self, now_cycles: u64, effects: &mut Effects) {
        if let Some((asserted, released)) = effects.resets.take() {
            self.apply_resets(asserted | released, now_cycles, effects);
        }
        if effects.clocks_changed {
            self.update_clock_frequencies(now_cycles, effects);
        }
        self.update_next_event_cycle();
    }

    /// Puts the blocks of these RESETS bits to their reset values, and lets TIMER count again from there.
    fn apply_resets(&mut self, bits: u32, now_cycles: u64, effects: &mut Effects) {
        for block in ALL_RESETTABLE {
            let Some(bit) = block.reset_bit() else {
                continue;
            };
            if bits >> bit & 1 != 0 {
                with_block!(self, block, b => b.reset_registers());
                effects.pins_changed |=
                    matches!(block, Block::IoBank0 | Block::PadsBank0 | Block::Pwm | Block::Pio0 | Block::Pio1);
                effects.clocks_changed |= matches!(block, Block::PllSys | Block::PllUsb | Block::Timer);
            }
        }
        let mut access = Access { now_cycles, core: 0, clocks: &self.tree, effects };
        self.pwm.set_shown_outputs(self.io_bank0.pwm_outputs_shown_on_pins(), &mut access);
    }

    /// Recomputes the clock frequencies, and adapts the peripherals that depend on them.
    fn update_clock_frequencies(&mut self, now_cycles: u64, effects: &mut Effects) {
        self.clocks.update_clock_source_frequencies(oscillator_and_pll_frequencies(
            &self.pll_sys,
            &self.pll_usb,
            &self.xosc,
            &self.rosc,
        ));
        let mut tree = frequencies_of_all_clocks(
            &self.clocks,
            &self.pll_sys,
            &self.pll_usb,
            &self.xosc,
            &self.rosc,
            &self.watchdog,
        );
        tree.elapsed = self.tree.elapsed;
        tree.elapsed.set_clock_frequency(now_cycles, tree.sys_hz);
        let old = std::mem::replace(&mut self.tree, tree.clone());
        let mut before = Access { now_cycles, core: 0, clocks: &old, effects };
        scheduled!(self, block => block.advance_to_now(&mut before));
        let mut after = Access { now_cycles, core: 0, clocks: &tree, effects };
        scheduled!(self, block => block.clocks_changed(&mut after));
    }

    /// Returns the levels of the NVIC lines of `core`, without SIO's own line (see [`Sio::irq_levels`]).
    #[inline]
    #[must_use]
    pub fn irq_levels(&self, core: usize) -> u32 {
        self.timer.irq_levels()
            | self.uarts[0].irq_levels()
            | self.uarts[1].irq_levels()
            | self.clocks.irq_levels()
            | self.io_bank0.irq_levels_of_core(core)
            | self.io_qspi.irq_levels_of_core(core)
            | self.levels_of_seldom_used_irq_lines()
    }

    /// Returns the levels of the interrupt lines that benchmarks seldom use.
    fn levels_of_seldom_used_irq_lines(&self) -> u32 {
        let pios = self.pios[0].irq_levels() | self.pios[1].irq_levels();
        let pairs = pios | self.spis[0].irq_levels() | self.spis[1].irq_levels();
        let pairs = pairs | self.i2cs[0].irq_levels() | self.i2cs[1].irq_levels();
        pairs | self.pwm.irq_levels() | self.dma.irq_levels() | self.adc.irq_levels() | self.rtc.irq_levels()
    }

    /// Sends bytes from the host to a UART. They arrive at line speed.
    pub fn send_to_uart(&mut self, uart: usize, bytes: &[u8]) {
        self.uarts[uart].queue_bytes_from_host(bytes);
        self.update_next_event_cycle();
    }

    /// Drives pads from outside: `driven` selects them, `levels` gives their levels. Call
    /// [`Self::update_pins`] afterwards.
    pub fn drive_pins(&mut self, driven: u32, levels: u32) {
        self.outside_driven = driven;
        self.outside = levels;
    }

    /// Drives one pad from outside and leaves the others as they are. Call [`Self::update_pins`] afterwards.
    pub fn drive_pin(&mut self, pin: u32, level: bool) {
        self.outside_driven |= 1 << pin;
        self.outside = self.outside & !(1 << pin) | u32::from(level) << pin;
    }

    /// Recomputes the pads from all outputs and the outside at the end of cycle `now`, latches edges and refreshes
    /// GPIO_IN. The machine calls it after every call that set `effects.pins_changed`.
    #[inline]
    pub fn update_pins(&mut self, now: u64) -> PinLevels {
        let pios = self.pios.each_ref().map(Pio::pin_levels_and_directions);
        let driven = self.io_bank0.pad_levels_and_directions(
            self.sio.gpio.output_levels(),
            self.sio.gpio.output_enables(),
            self.pwm.pwm_output_levels_at_pins(),
            pios,
        );
        let (levels, oe) = self.pads_bank0.pad_levels(driven.out, driven.oe, self.outside_driven, self.outside);
        self.pins = PinLevels { levels: levels & GPIO_MASK, driven: oe };
        let inputs = self.io_bank0.set_pad_levels(self.pads_bank0.enabled_input_levels(self.pins.levels));
        self.sio.gpio.set_input_levels(inputs);
        if self.spis.iter().any(|spi| spi.bus.has_chip_select_pins()) {
            let (levels, now_ns) = (self.pins.levels, self.tree.elapsed.ns_at(now));
            self.spis
                .iter_mut()
                .for_each(|spi| spi.bus.update_selected_devices(|pin| Some(levels >> pin & 1 != 0), now_ns));
        }
        if self.pios[0].set_pin_levels(inputs, now) | self.pios[1].set_pin_levels(inputs, now) {
            self.update_next_event_cycle();
        }
        self.pins
    }

    /// Attaches a device at this place. The error is one sentence.
    pub fn attach_device(&mut self, connection: Connection, device: AttachedDevice) -> Result<(), String> {
        let missing = |bus: &str, number: u8| format!("the rp2040 has no {bus}{number}; it has {bus}0 and {bus}1");
        let is_free = match connection {
            Connection::Spi(n @ 0..=1, select) => {
                if let Some(pin) = select.filter(|&pin| pin >= 30) {
                    return Err(format!("the chip has no pin number {pin}"));
                }
                self.spis[usize::from(n)].bus.attach_spi_device(select, device);
                true
            }
            Connection::I2c(n @ 0..=1, address) => self.i2cs[usize::from(n)].bus.attach_i2c_device(address, device),
            Connection::Uart(n @ 0..=1) => self.attachments.attach_device_to_serial_port(n, device),
            Connection::Pins => {
                self.attachments.attach_device_to_pins(device);
                true
            }
            Connection::Spi(n, _) => return Err(missing("spi", n)),
            Connection::I2c(n, _) => return Err(missing("i2c", n)),
            Connection::Uart(n) => return Err(missing("uart", n)),
        };
        if is_free { Ok(()) } else { Err("another device has this address or port already".to_owned()) }
    }

    /// Sets the voltage at a pin with an ADC input. The error is one sentence.
    pub fn set_analog_voltage(&mut self, pin: u16, millivolts: u32) -> Result<(), String> {
        const FIRST: u16 = 26;
        const SUPPLY_MILLIVOLTS: u32 = 3300;
        let input = pin.checked_sub(FIRST).filter(|input| *input < 4);
        let input = input.ok_or_else(|| format!("GP{pin} is no input of the ADC; GP26 to GP29 are"))?;
        let level = (millivolts.min(SUPPLY_MILLIVOLTS) * 4096 / SUPPLY_MILLIVOLTS).min(4095);
        self.adc.set_adc_input_level(usize::from(input), level);
        Ok(())
    }

    /// Returns the levels of the pads at the last [`Self::update_pins`].
    #[must_use]
    pub fn pad_levels(&self) -> PinLevels {
        self.pins
    }
}

const GPIO_MASK: u32 = 0x3fff_ffff;
/// The QSPI pins as GPIO_HI_IN shows them: chip select pulled up, which is BOOTSEL not pressed.
pub(super) const CS_PULLED_UP: u32 = 1 << 1;

/// USB: status registers that would be set by a host stay 0, so that drivers see an unplugged cable.
const USB_FIXED: [FixedRegisters; 3] = [
    FixedRegisters { offset: 0x50, reset: 0, mask: 0 },
    FixedRegisters { offset: 0x58, reset: 0, mask: 0 },
    FixedRegisters { offset: 0x8c, reset: 0, mask: 0 },
];

/// Blocks with a RESETS bit.
const ALL_RESETTABLE: [Block; 24] = [
    Block::Adc,
    Block::Busctrl,
    Block::Dma,
    Block::I2c0,
    Block::I2c1,
    Block::IoBank0,
    Block::IoQspi,
    Block::PadsBank0,
    Block::PadsQspi,
    Block::Pio0,
    Block::Pio1,
    Block::PllSys,
    Block::PllUsb,
    Block::Pwm,
    Block::Rtc,
    Block::Spi0,
    Block::Spi1,
    Block::Syscfg,
    Block::Timer,
    Block::Uart0,
    Block::Uart1,
    Block::Usb,
    Block::Sysinfo,
    Block::Tbman,
];
