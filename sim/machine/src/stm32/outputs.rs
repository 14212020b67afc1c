//! The outputs of a chip through its pins and serial ports, on their way to the instruments.

use rtoslab_lab::{Console, Kind, Probes};
use rtoslab_periph::stm32::{Effects, PinChange, Stm32};

/// How often devices may answer a change of pins with other ones in one cycle.
const MOST_ANSWERS: usize = 16;

/// Notifies devices of the pins that have changed since the last call, and records all edges if pins are traced. A
/// pin's number is 16 times its port's number, plus its own.
pub(super) fn notify_and_trace_changed_pins(effects: &mut Effects, periph: &mut Stm32, probes: &mut Probes) {
    let mut notified = 0;
    for _ in 0..MOST_ANSWERS {
        if !periph.attachments.has_device_on_pins() || notified == effects.pins.len() {
            break;
        }
        for change in effects.pins.split_off(notified) {
            effects.pins.push(change);
            notified += 1;
            notify_devices_of_pins(change, effects, periph);
        }
    }
    for change in std::mem::take(&mut effects.pins) {
        let mut rest = if probes.trace_pins { change.changed } else { 0 };
        while rest != 0 {
            let pin = rest.trailing_zeros();
            rest &= rest - 1;
            let (number, level) = (u16::from(change.port) * 16 + pin as u16, u32::from(change.levels >> pin & 1));
            probes.append_event(Kind::Pin, 0, change.cycle, number, level, 0);
        }
    }
}

/// Notifies devices of a port's changed pins, and drives the pins that they return. Their changes are appended to the
/// effects.
fn notify_devices_of_pins(change: PinChange, effects: &mut Effects, periph: &mut Stm32) {
    let now_ns = periph.elapsed_time().ns_at(change.cycle);
    for pin in (0..16_u16).filter(|pin| change.changed >> pin & 1 != 0) {
        let number = u16::from(change.port) * 16 + pin;
        for (answered, level) in periph.attachments.change_pin(number, change.levels >> pin & 1 != 0, now_ns) {
            periph.drive_pin((answered / 16) as u8, (answered % 16) as u8, level, change.cycle, effects);
        }
    }
}

/// Passes the output of the serial ports on to the console and to devices.
pub(super) fn pass_serial_output_on(
    effects: &mut Effects,
    periph: &mut Stm32,
    console: &mut Console,
    port: &mut u8,
    now: u64,
) {
    for (number, byte) in std::mem::take(&mut effects.uart_tx) {
        *port = number;
        if let Some(text) = console.receive_console_byte(byte) {
            periph.send_to_serial_port(number, &text);
        }
        let now_ns = periph.elapsed_time().ns_at(now);
        let answer = periph.attachments.receive_byte(number, byte, now_ns);
        if !answer.is_empty() {
            periph.send_to_serial_port(number, &answer);
        }
    }
}
