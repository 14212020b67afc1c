//! The outputs of a chip through its pins and serial ports, on their way to the instruments.

use rtoslab_lab::{Console, Kind, Probes};
use rtoslab_periph::stm32::{Effects, Stm32};

/// Records the pin edges since the last call, if somebody asked for them. A pin's number is 16 times its port's, plus its own.
pub(super) fn record_pins(effects: &mut Effects, probes: &mut Probes) {
    for change in std::mem::take(&mut effects.pins) {
        let mut rest = if probes.trace_pins { change.changed } else { 0 };
        while rest != 0 {
            let pin = rest.trailing_zeros();
            rest &= rest - 1;
            let (number, level) = (u16::from(change.port) * 16 + pin as u16, u32::from(change.levels >> pin & 1));
            probes.record(Kind::Pin, 0, change.cycle, number, level, 0);
        }
    }
}

/// Passes the output of the serial ports on to the console.
pub(super) fn print(effects: &mut Effects, periph: &mut Stm32, console: &mut Console, port: &mut u8) {
    for (number, byte) in std::mem::take(&mut effects.uart_tx) {
        *port = number;
        if let Some(text) = console.receive(byte) {
            periph.uart_push(number, &text);
        }
    }
}
