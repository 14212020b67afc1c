//! A serial NOR flash: the commands that boot2, the boot ROM and `flash_get_unique_id` use.

use std::sync::Arc;

const SECTOR_BYTES: usize = 4096;
const PAGE_BYTES: usize = 256;
/// Winbond W25Q16JV, the Pico's 2 MB chip: manufacturer, type; the third byte is log2 of the capacity.
const JEDEC_ID: [u8; 2] = [0xef, 0x40];
/// The same on every board, so that nothing a test prints depends on the chip.
const UNIQUE_ID: [u8; 8] = [0xe6, 0x60, 0x52, 0x54, 0x4c, 0x41, 0x42, 0x01];
const STATUS_WEL: u8 = 1 << 1;

/// The external flash chip: its contents and the state of the current command.
#[derive(Debug, Clone, Default)]
pub struct Flash {
    /// Shared by snapshots until it is written to.
    bytes: Arc<[u8]>,
    selected: bool,
    /// Software holds chip select through IO_QSPI.
    forced: bool,
    command: Vec<u8>,
    status: [u8; 2],
}

impl Flash {
    /// Creates an erased flash of `size` bytes with the quad-enable bit set, as boards ship.
    #[must_use]
    pub fn new(size: usize) -> Self {
        // In one piece: the host gives memory slowly, and each board begins with this.
        Self { bytes: std::iter::repeat_n(0xff, size).collect(), status: [0, 2], ..Self::default() }
    }

    /// Returns the contents, from offset 0.
    #[must_use]
    pub fn flash_content(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the content itself, for snapshots that share it.
    #[must_use]
    pub fn flash_content_for_sharing(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Returns the contents, to load an image.
    pub fn flash_content_mut(&mut self) -> &mut [u8] {
        Arc::make_mut(&mut self.bytes)
    }

    /// Sets `count` bytes from `offset` to 0xff. Addresses beyond the end are ignored.
    pub fn erase_bytes(&mut self, offset: usize, count: usize) {
        let end = offset.saturating_add(count).min(self.bytes.len());
        if let Some(range) = self.flash_content_mut().get_mut(offset..end) {
            range.fill(0xff);
        }
    }

    /// Programs bytes from `offset`: bits only go from 1 to 0.
    pub fn program_bytes(&mut self, offset: usize, data: &[u8]) {
        for (cell, byte) in self.flash_content_mut().iter_mut().skip(offset).zip(data) {
            *cell &= byte;
        }
    }

    /// Returns whether chip select is active.
    pub(super) fn is_chip_select_active(&self) -> bool {
        self.selected
    }

    /// Returns whether software holds chip select active.
    pub(super) fn is_chip_select_forced(&self) -> bool {
        self.forced
    }

    /// Forces or releases chip select by software (IO_QSPI OUTOVER). Returns true if that executed a command that takes
    /// a real chip its time.
    pub fn force_chip_select(&mut self, forced: Option<bool>) -> bool {
        self.forced = forced == Some(true);
        self.set_chip_select(self.forced)
    }

    /// Sets chip select. Its rising edge executes erase and program commands. Returns true if it was one of these.
    pub(super) fn set_chip_select(&mut self, selected: bool) -> bool {
        let long = self.selected && !selected && self.execute_flash_command();
        if !selected {
            self.command.clear();
        }
        self.selected = selected;
        long
    }

    /// Returns the 24-bit address in the current command.
    fn flash_command_address(&self) -> usize {
        self.command.iter().skip(1).take(3).fold(0, |address, &byte| address << 8 | usize::from(byte))
    }

    /// Executes the current command. Returns true if it is one that takes a real chip its time.
    fn execute_flash_command(&mut self) -> bool {
        let write_enabled = self.status[0] & STATUS_WEL != 0;
        let opcode = self.command.first().copied();
        match opcode {
            Some(0x06) => self.status[0] |= STATUS_WEL,
            Some(0x04) => self.status[0] &= !STATUS_WEL,
            Some(0x01) if write_enabled => {
                if let Some(&sr2) = self.command.get(2) {
                    self.status[1] = sr2;
                }
            }
            Some(0x31) if write_enabled => self.status[1] = self.command.get(1).copied().unwrap_or(0),
            Some(0x20) if write_enabled => {
                self.erase_bytes(self.flash_command_address() & !(SECTOR_BYTES - 1), SECTOR_BYTES)
            }
            Some(0x52) if write_enabled => self.erase_bytes(self.flash_command_address() & !0x7fff, 0x8000),
            Some(0xd8) if write_enabled => self.erase_bytes(self.flash_command_address() & !0xffff, 0x1_0000),
            Some(0xc7 | 0x60) if write_enabled => self.erase_bytes(0, self.bytes.len()),
            Some(0x02) if write_enabled => self.program_page(),
            _ => {}
        }
        let writes = matches!(opcode, Some(0x01 | 0x31 | 0x20 | 0x52 | 0xd8 | 0xc7 | 0x60 | 0x02));
        if writes {
            self.status[0] &= !STATUS_WEL;
        }
        writes && write_enabled
    }

    /// Programs a page, in which the data wrap at its 256 bytes.
    fn program_page(&mut self) {
        let start = self.flash_command_address();
        let page = start & !(PAGE_BYTES - 1);
        let data: Vec<u8> = self.command.iter().skip(4).copied().collect();
        for (n, byte) in data.into_iter().enumerate() {
            self.program_bytes(page + (start + n) % PAGE_BYTES, &[byte]);
        }
    }

    /// Shifts one byte in, and returns the one shifted out.
    pub(super) fn exchange_byte(&mut self, sent: u8) -> u8 {
        let position = self.command.len();
        let opcode = self.command.first().copied().unwrap_or(sent);
        let received = match (opcode, position) {
            (_, 0) => 0,
            (0x05, _) => self.status[0],
            (0x35, _) => self.status[1],
            (0x9f, n) => match n % 3 {
                1 => JEDEC_ID[0],
                2 => JEDEC_ID[1],
                _ => self.bytes.len().max(1).ilog2() as u8,
            },
            (0x4b, n) if n >= 5 => UNIQUE_ID[(n - 5) % 8],
            (0x03, n) if n >= 4 => self.byte_at(self.flash_command_address() + n - 4),
            (0x0b, n) if n >= 5 => self.byte_at(self.flash_command_address() + n - 5),
            _ => 0,
        };
        self.command.push(sent);
        received
    }

    /// Returns a byte of the content, which repeats beyond its end.
    fn byte_at(&self, address: usize) -> u8 {
        if self.bytes.is_empty() { 0xff } else { self.bytes[address % self.bytes.len()] }
    }
}
