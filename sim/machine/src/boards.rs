//! Virtual boards by the names of their chips.

use rtoslab_periph::stm32::{Chip, Options as Stm32Board, Pin, Wire};

use crate::board::{Board, Options, check_crystal_frequency};
use crate::setting::SettingError;
use crate::snapshot::Snapshot;
use crate::{rp2040, stm32};

/// Creates another board of the same kind in the state of a snapshot, with its probes. Errors: as
/// [`create_board_of_chip`], or the snapshot is not of such a board.
pub fn board_from_snapshot(chip: &str, options: &Options, snapshot: &Snapshot) -> Result<Box<dyn Board>, SettingError> {
    let mut board = create_board_of_chip(chip, options)?;
    board.install_snapshot_probes(snapshot);
    if !board.restore_snapshot(snapshot) {
        return Err(SettingError(format!("the snapshot is not from a board with the chip {chip}")));
    }
    Ok(board)
}

/// Parses a wire between two pins by name, such as PA8 and PB0.
pub fn parse_pin_wire(from: &str, to: &str) -> Result<Wire, SettingError> {
    Ok(Wire { from: parse_pin_name(from)?, to: parse_pin_name(to)? })
}

/// Parses a pin's name, such as PA8.
pub fn parse_pin_name(name: &str) -> Result<Pin, SettingError> {
    let parse = || {
        let rest = name.strip_prefix('P')?;
        let port = rest.bytes().next()?.checked_sub(b'A').filter(|port| *port < 11)?;
        let pin = rest.get(1..)?.parse().ok().filter(|pin| *pin < 16)?;
        Some(Pin { port, pin })
    };
    parse().ok_or_else(|| SettingError(format!("there is no pin {name}; pins are PA0 to PK15")))
}

/// Creates the board of a chip. Errors: the chip is unknown, or the options do not fit it.
pub fn create_board_of_chip(chip: &str, options: &Options) -> Result<Box<dyn Board>, SettingError> {
    if chip == "rp2040" {
        return rp2040::create_pico_board(options);
    }
    let Some(part) = Chip::from_name(chip) else {
        let parts = Chip::ALL.map(|part| format!("stm32{part:?}").to_ascii_lowercase()).join(", ");
        return Err(SettingError(format!("there is no virtual chip {chip}; use rp2040, {parts}")));
    };
    if options.cores > 1 {
        return Err(SettingError(format!("the {chip} has 1 core, not {}", options.cores)));
    }
    check_crystal_frequency(options.crystal_hz)?;
    let mut board = Stm32Board::default();
    if options.crystal_hz != 0 {
        board.hse_hz = options.crystal_hz;
    }
    let console_port = if options.console_port == 0 { 2 } else { options.console_port };
    board.wires.clone_from(&options.wires);
    board.rest.clone_from(&options.rest);
    if let Some((at, _)) = options.rest.iter().find(|(at, _)| !part.has_gpio_port(at.port)) {
        let name = char::from(b'A' + at.port);
        return Err(SettingError(format!("the {chip} has no port {name}, so P{name}{} has no level at rest", at.pin)));
    }
    Ok(stm32::create_armv7m_board(part, stm32::Options { board, console_port, strict: options.strict }))
}
