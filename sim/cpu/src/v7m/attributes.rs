//! Memory attributes: of the default memory map and of an MPU region's TEX, C, B and S (ARMv7-M B3.1, B3.5.9).

/// The memory type of an address (ARMv7-M): Normal, Device or Strongly-ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// May be cached, prefetched and accessed unaligned.
    Normal,
    /// Each access counts. Aligned only.
    Device,
    /// Memory like Device, in order with all other accesses.
    StronglyOrdered,
}

/// The cache policy of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePolicy {
    /// Not cached.
    NonCacheable,
    /// Write-back, allocates on reads and writes.
    WriteBackWriteAllocate,
    /// Write-through, allocates on reads.
    WriteThrough,
    /// Write-back, allocates on reads.
    WriteBack,
}

/// The memory attributes of an address: type, cache policy and shareability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAttributes {
    /// Memory type.
    pub kind: Kind,
    /// Inner cache policy.
    pub policy: CachePolicy,
    /// Shareable (the M7 does not cache such data).
    pub shareable: bool,
}

/// Returns the attributes of Normal memory.
const fn normal_memory(policy: CachePolicy, shareable: bool) -> MemoryAttributes {
    MemoryAttributes { kind: Kind::Normal, policy, shareable }
}

/// Returns the attributes of Device memory.
const fn device_memory(shareable: bool) -> MemoryAttributes {
    MemoryAttributes { kind: Kind::Device, policy: CachePolicy::NonCacheable, shareable }
}

const STRONGLY_ORDERED: MemoryAttributes =
    MemoryAttributes { kind: Kind::StronglyOrdered, policy: CachePolicy::NonCacheable, shareable: true };

impl MemoryAttributes {
    /// Returns the attributes of an address in the default memory map, by 512 MB blocks (table B3-1).
    pub const fn from_default_memory_map(address: u32) -> MemoryAttributes {
        match address >> 29 {
            0 | 4 => normal_memory(CachePolicy::WriteThrough, false),
            1 | 3 => normal_memory(CachePolicy::WriteBackWriteAllocate, false),
            2 | 5 => device_memory(true),
            6 => device_memory(false),
            _ if address >> 20 == 0xe00 => STRONGLY_ORDERED,
            _ => device_memory(true),
        }
    }

    /// Returns the attributes that an MPU region's RASR encodes. Reserved encodings are taken as Strongly-ordered.
    pub const fn from_mpu_region(rasr: u32) -> MemoryAttributes {
        let shareable = rasr >> 18 & 1 != 0;
        let (tex, cb) = (rasr >> 19 & 7, rasr >> 16 & 3);
        match (tex, cb) {
            (0, 1) => device_memory(true),
            (0, 2) => normal_memory(CachePolicy::WriteThrough, shareable),
            (0, 3) => normal_memory(CachePolicy::WriteBack, shareable),
            (1, 0) => normal_memory(CachePolicy::NonCacheable, shareable),
            (1, 3) => normal_memory(CachePolicy::WriteBackWriteAllocate, shareable),
            (2, 0) => device_memory(false),
            (4.., 0) => normal_memory(CachePolicy::NonCacheable, shareable),
            (4.., 1) => normal_memory(CachePolicy::WriteBackWriteAllocate, shareable),
            (4.., 2) => normal_memory(CachePolicy::WriteThrough, shareable),
            (4.., 3) => normal_memory(CachePolicy::WriteBack, shareable),
            _ => STRONGLY_ORDERED,
        }
    }
}
