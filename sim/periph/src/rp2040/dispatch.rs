//! Static dispatch from a block's name to its field, without trait objects.

/// Evaluates `$body` with `$name` bound to one block.
macro_rules! on_block {
    ($field:expr, $name:ident, $body:expr) => {{
        let $name = $field;
        $body
    }};
}

/// Evaluates `$body` with `$name` bound to the block that `$block` names.
macro_rules! with_block {
    ($self:ident, $block:expr, $name:ident => $body:expr) => {
        match $block {
            Block::XipCtrl => on_block!(&mut $self.xip_ctrl, $name, $body),
            Block::Ssi => on_block!(&mut $self.ssi, $name, $body),
            Block::Sysinfo => on_block!(&mut $self.sysinfo, $name, $body),
            Block::Syscfg => on_block!(&mut $self.syscfg, $name, $body),
            Block::Clocks => on_block!(&mut $self.clocks, $name, $body),
            Block::Resets => on_block!(&mut $self.resets, $name, $body),
            Block::Psm => on_block!(&mut $self.psm, $name, $body),
            Block::IoBank0 => on_block!(&mut $self.io_bank0, $name, $body),
            Block::IoQspi => on_block!(&mut $self.io_qspi, $name, $body),
            Block::PadsBank0 => on_block!(&mut $self.pads_bank0, $name, $body),
            Block::PadsQspi => on_block!(&mut $self.pads_qspi, $name, $body),
            Block::Xosc => on_block!(&mut $self.xosc, $name, $body),
            Block::PllSys => on_block!(&mut $self.pll_sys, $name, $body),
            Block::PllUsb => on_block!(&mut $self.pll_usb, $name, $body),
            Block::Busctrl => on_block!(&mut $self.busctrl, $name, $body),
            Block::Uart0 => on_block!(&mut $self.uarts[0], $name, $body),
            Block::Uart1 => on_block!(&mut $self.uarts[1], $name, $body),
            Block::Spi0 => on_block!(&mut $self.spis[0], $name, $body),
            Block::Spi1 => on_block!(&mut $self.spis[1], $name, $body),
            Block::I2c0 => on_block!(&mut $self.i2cs[0], $name, $body),
            Block::I2c1 => on_block!(&mut $self.i2cs[1], $name, $body),
            Block::Adc => on_block!(&mut $self.adc, $name, $body),
            Block::Pwm => on_block!(&mut $self.pwm, $name, $body),
            Block::Timer => on_block!(&mut $self.timer, $name, $body),
            Block::Watchdog => on_block!(&mut $self.watchdog, $name, $body),
            Block::Rtc => on_block!(&mut $self.rtc, $name, $body),
            Block::Rosc => on_block!(&mut $self.rosc, $name, $body),
            Block::Vreg => on_block!(&mut $self.vreg, $name, $body),
            Block::Tbman => on_block!(&mut $self.tbman, $name, $body),
            Block::Dma => on_block!(&mut $self.dma, $name, $body),
            Block::UsbDpram => on_block!(&mut $self.usb_dpram, $name, $body),
            Block::Usb => on_block!(&mut $self.usb, $name, $body),
            Block::Pio0 => on_block!(&mut $self.pios[0], $name, $body),
            Block::Pio1 => on_block!(&mut $self.pios[1], $name, $body),
            Block::XipAux => on_block!(&mut $self.xip_aux, $name, $body),
        }
    };
}

/// Evaluates `$body` for every block that schedules something or whose schedule depends on a clock.
macro_rules! scheduled {
    ($self:ident, $name:ident => $body:expr) => {{
        on_block!(&mut $self.timer, $name, $body);
        on_block!(&mut $self.uarts[0], $name, $body);
        on_block!(&mut $self.uarts[1], $name, $body);
        on_block!(&mut $self.watchdog, $name, $body);
        on_block!(&mut $self.xosc, $name, $body);
        on_block!(&mut $self.rosc, $name, $body);
        on_block!(&mut $self.clocks, $name, $body);
        on_block!(&mut $self.rtc, $name, $body);
        on_block!(&mut $self.pwm, $name, $body);
        on_block!(&mut $self.pios[0], $name, $body);
        on_block!(&mut $self.pios[1], $name, $body);
        on_block!(&mut $self.spis[0], $name, $body);
        on_block!(&mut $self.spis[1], $name, $body);
        on_block!(&mut $self.i2cs[0], $name, $body);
        on_block!(&mut $self.i2cs[1], $name, $body);
        on_block!(&mut $self.adc, $name, $body);
    }};
}

pub(super) use {on_block, scheduled, with_block};
