//! Finds the block that answers at an address.

/// The windows that hold peripherals, by the top 12 bits of the address. 1 MB each.
const WINDOWS: [u32; 8] = [0x400, 0x480, 0x500, 0x510, 0x520, 0x580, 0x5c0, 0xa00];
/// DBGMCU of the Cortex-M3, M4 and M7 parts but the H7: alone in the core's private window.
const DBGMCU_PAGE: u32 = 0xe004_2000 >> 10;
const PAGES_PER_WINDOW: usize = 1024;
const EMPTY: u8 = u8::MAX;

/// A table that gives the block for each 1 kB page of the peripherals' addresses.
#[derive(Debug, Clone)]
pub(super) struct PageMap {
    /// Number of the window of each 1 MB, or [`EMPTY`].
    windows: Box<[u8; 4096]>,
    pages: Vec<u8>,
    dbgmcu: u8,
}

impl PageMap {
    /// Returns a map without blocks.
    pub fn new() -> Self {
        let mut windows = Box::new([EMPTY; 4096]);
        for (n, &window) in WINDOWS.iter().enumerate() {
            windows[window as usize] = n as u8;
        }
        Self { windows, pages: vec![EMPTY; WINDOWS.len() * PAGES_PER_WINDOW], dbgmcu: EMPTY }
    }

    /// Returns the index of the page that contains an address. `None` outside all blocks.
    fn peripheral_page_index(&self, address: u32) -> Option<usize> {
        let window = self.windows[(address >> 20) as usize];
        (window != EMPTY).then(|| usize::from(window) * PAGES_PER_WINDOW + (address >> 10 & 0x3ff) as usize)
    }

    /// Maps the peripheral block with number `slot` to `bytes` of addresses from `base` on.
    pub fn map_peripheral_addresses(&mut self, base: u32, bytes: u32, slot: usize) {
        let slot = u8::try_from(slot).expect("fewer than 255 blocks");
        if base >> 10 == DBGMCU_PAGE {
            self.dbgmcu = slot;
            return;
        }
        for address in (base..base + bytes).step_by(1024) {
            let page = self.peripheral_page_index(address).expect("a block outside the peripheral windows");
            assert_eq!(self.pages[page], EMPTY, "two blocks at {address:#x}");
            self.pages[page] = slot;
        }
    }

    /// Returns the index of the block that answers at `address`. `None` if none does.
    #[inline]
    pub fn peripheral_index_at_address(&self, address: u32) -> Option<usize> {
        let slot = match self.peripheral_page_index(address) {
            Some(page) => self.pages[page],
            None if address >> 10 == DBGMCU_PAGE => self.dbgmcu,
            None => EMPTY,
        };
        (slot != EMPTY).then_some(usize::from(slot))
    }
}
