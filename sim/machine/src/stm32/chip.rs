//! The chips as memory maps: which memory is where, through which bus, and what can hold code.
//!
//! Sources: ST's reference manuals (memory map chapters) and the device headers; sizes are those of the boards' parts.

use rtoslab_cpu::v7m::core::Features;
use rtoslab_periph::stm32::Chip;

/// First address of the main flash.
pub const FLASH_BASE: u32 = 0x0800_0000;
/// First address of the memory that the core accesses most: SRAM1, on the Cortex-M7 the data TCM with SRAM1 after it.
pub const RAM_BASE: u32 = 0x2000_0000;

/// The kind of memory that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Memory without wait states beside the bus matrix (SRAM) or at the core (TCM, CCM).
    Ram,
    /// RAM that the Cortex-M7 reaches over AXI, and that its caches may hold.
    Axi,
    /// System memory, one-time-programmable area, option bytes: reads only.
    Rom,
}

/// A memory besides main flash and main RAM.
#[derive(Debug, Clone, Copy)]
pub struct Area {
    /// Name in messages.
    pub name: &'static str,
    /// First address.
    pub base: u32,
    /// Length in bytes.
    pub bytes: u32,
    /// How it answers.
    pub kind: Kind,
    /// Instructions can be fetched from it.
    pub code: bool,
    /// Another address at which the same memory answers.
    pub alias: Option<u32>,
}

/// The content and state of an [`Area`] on a board.
pub struct Memory {
    /// The kind of area.
    pub area: Area,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Returns the description of a RAM on the bus matrix. `code`: it can be executed.
const fn ram_on_bus_matrix(name: &'static str, base: u32, bytes: u32, code: bool) -> Area {
    Area { name, base, bytes, kind: Kind::Ram, code, alias: None }
}

/// Returns the description of a RAM behind the AXI bus of an M7.
const fn ram_behind_axi(name: &'static str, base: u32, bytes: u32) -> Area {
    Area { name, base, bytes, kind: Kind::Axi, code: true, alias: None }
}

/// Returns the description of a read-only memory.
const fn read_only_memory(name: &'static str, base: u32, bytes: u32) -> Area {
    Area { name, base, bytes, kind: Kind::Rom, code: false, alias: None }
}

/// The chip's memory map, as the machine needs it.
#[derive(Debug, Clone, Copy)]
pub struct Map {
    /// The core's options.
    pub features: Features,
    /// Main flash.
    pub flash_bytes: u32,
    /// Main RAM from [`RAM_BASE`] on.
    pub ram_bytes: u32,
    /// Offset in the main RAM at which another block of it begins (accesses pipeline within a block).
    pub ram_split: u32,
    /// Main RAM below this offset is tightly coupled (M7).
    pub tcm_bytes: u32,
    /// Other address of the main flash: 0, on the F7 the ITCM path.
    pub flash_alias: Option<u32>,
    /// Peripherals are in power domains of their own (H7).
    pub domains: bool,
    /// The other memories.
    pub areas: &'static [Area],
}

const F1: Map = Map {
    features: Features { irq_lines: 43, ..Features::CORTEX_M3 },
    flash_bytes: 128 << 10,
    ram_bytes: 20 << 10,
    ram_split: 20 << 10,
    tcm_bytes: 0,
    flash_alias: Some(0),
    domains: false,
    areas: &[
        read_only_memory("system memory", 0x1fff_f000, 2 << 10),
        read_only_memory("option bytes", 0x1fff_f800, 16),
    ],
};

const F446: Map = Map {
    features: Features { irq_lines: 97, ..Features::CORTEX_M4F },
    flash_bytes: 512 << 10,
    ram_bytes: 128 << 10,
    ram_split: 112 << 10,
    tcm_bytes: 0,
    flash_alias: Some(0),
    domains: false,
    areas: &[
        read_only_memory("system memory", 0x1fff_0000, 30 << 10),
        read_only_memory("OTP area", 0x1fff_7800, 0x210),
        read_only_memory("option bytes", 0x1fff_c000, 16),
        ram_on_bus_matrix("backup SRAM", 0x4002_4000, 4 << 10, false),
    ],
};

const F407: Map = Map {
    features: Features { irq_lines: 82, ..Features::CORTEX_M4F },
    flash_bytes: 1 << 20,
    areas: &[
        // CCM hangs on the data bus only: no code.
        ram_on_bus_matrix("CCM RAM", 0x1000_0000, 64 << 10, false),
        F446.areas[0],
        F446.areas[1],
        F446.areas[2],
        F446.areas[3],
    ],
    ..F446
};

const F411: Map = Map {
    features: Features { irq_lines: 86, ..Features::CORTEX_M4F },
    ram_split: 128 << 10,
    areas: &[F446.areas[0], F446.areas[1], F446.areas[2]],
    ..F446
};

const F767: Map = Map {
    features: Features { irq_lines: 110, ..Features::CORTEX_M7 },
    flash_bytes: 2 << 20,
    // DTCM, SRAM1 and SRAM2 lie side by side.
    ram_bytes: 512 << 10,
    ram_split: 128 << 10,
    tcm_bytes: 128 << 10,
    flash_alias: Some(0x0020_0000),
    domains: false,
    areas: &[
        ram_on_bus_matrix("ITCM RAM", 0, 16 << 10, true),
        Area { alias: Some(0x0010_0000), ..read_only_memory("system memory", 0x1ff0_0000, 60 << 10) },
        read_only_memory("OTP area", 0x1ff0_f000, 0x440),
        read_only_memory("option bytes", 0x1fff_0000, 32),
        ram_on_bus_matrix("backup SRAM", 0x4002_4000, 4 << 10, false),
    ],
};

const H743: Map = Map {
    features: Features {
        cpuid: 0x411f_c271,
        irq_lines: 150,
        mpu_regions: 16,
        itcm_kilobytes: 64,
        ..Features::CORTEX_M7
    },
    flash_bytes: 2 << 20,
    ram_bytes: 128 << 10,
    ram_split: 128 << 10,
    tcm_bytes: 128 << 10,
    flash_alias: None,
    domains: true,
    areas: &[
        ram_on_bus_matrix("ITCM RAM", 0, 64 << 10, true),
        ram_behind_axi("AXI SRAM", 0x2400_0000, 512 << 10),
        Area { alias: Some(0x1000_0000), ..ram_behind_axi("D2 SRAM", 0x3000_0000, 288 << 10) },
        ram_behind_axi("D3 SRAM", 0x3800_0000, 64 << 10),
        ram_on_bus_matrix("backup SRAM", 0x3880_0000, 4 << 10, false),
        read_only_memory("system memory", 0x1ff0_0000, 128 << 10),
    ],
};

/// Returns the map of a chip with an ARMv7-M core. `None` for the L0.
pub fn memory_map_of_chip(chip: Chip) -> Option<&'static Map> {
    match chip {
        Chip::L053 | Chip::L073 => None,
        Chip::F103 => Some(&F1),
        Chip::F407 => Some(&F407),
        Chip::F411 => Some(&F411),
        Chip::F446 => Some(&F446),
        Chip::F767 => Some(&F767),
        Chip::H743 => Some(&H743),
    }
}
