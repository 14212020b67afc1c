//! Tests of machines by what is public of them. They are in the crate, not beside it: this crate takes longest of all
//! to build, and so it is built for its tests once instead of twice.

mod bench;
mod elapsed;
mod host_addresses;
mod m3m4_properties;
mod m3m4_published;
mod m3m4_table;
mod published_buses;
mod rp2040_dma;
mod rp2040_flash;
mod rp2040_lockup;
mod rp2040_pio;
mod sram_image;
mod stm32_dma;
mod stm32_flash;
mod stm32_l0;
mod stops;
mod typed;
mod writer;
