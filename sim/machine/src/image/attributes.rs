//! The build attributes of an ELF file (Addenda to the ABI for the Arm Architecture): what its code needs of the core.

use object::Endianness;
use object::elf::{FileHeader32, SHT_ARM_ATTRIBUTES};
use object::read::elf::{AttributeReader, FileHeader, SectionHeader};

const FILE_SCOPE: u8 = 1;
const CPU_RAW_NAME: u64 = 4;
const CPU_NAME: u64 = 5;
const CPU_ARCH: u64 = 6;
const CPU_ARCH_PROFILE: u64 = 7;
const FP_ARCH: u64 = 10;
const COMPATIBILITY: u64 = 32;

/// Values of `Tag_CPU_arch`.
const V7: u64 = 10;
const V7E_M: u64 = 13;
const V8_M_BASE: u64 = 16;
const V8_M_MAIN: u64 = 17;
const V8_1_M_MAIN: u64 = 21;
/// The first value of `Tag_FP_arch` that means instructions of FPv5.
const FP_V5: u64 = 7;

/// The abilities of a core that build attributes may require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Core {
    /// ARMv6-M.
    M0Plus,
    /// ARMv7-M.
    M3,
    /// ARMv7E-M with FPv4 of single precision.
    M4F,
    /// ARMv7E-M with FPv5.
    M7,
}

impl Core {
    /// Returns the core's name for messages.
    fn core_name(self) -> &'static str {
        match self {
            Core::M0Plus => "Cortex-M0+",
            Core::M3 => "Cortex-M3",
            Core::M4F => "Cortex-M4F",
            Core::M7 => "Cortex-M7",
        }
    }
}

/// The build attributes of an image that say which instructions its code may have. 0 where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RequiredCoreFeatures {
    arch: u64,
    profile: u64,
    float: u64,
}

impl RequiredCoreFeatures {
    /// Returns the build attributes of a file. A section that is damaged says nothing.
    pub(super) fn build_attributes_of_elf(
        header: &FileHeader32<Endianness>,
        endian: Endianness,
        data: &[u8],
    ) -> RequiredCoreFeatures {
        let mut needs = RequiredCoreFeatures::default();
        let Ok(sections) = header.sections(endian, data) else { return needs };
        for section in sections.iter().filter(|section| section.sh_type(endian) == SHT_ARM_ATTRIBUTES) {
            needs.read_attribute_section(section, endian, data).unwrap_or_default();
        }
        needs
    }

    /// Reads the build attributes in a section of the image.
    fn read_attribute_section(
        &mut self,
        section: &object::elf::SectionHeader32<Endianness>,
        endian: Endianness,
        data: &[u8],
    ) -> object::Result<()> {
        let mut subsections = section.attributes(endian, data)?.subsections()?;
        while let Some(subsection) = subsections.next()? {
            let mut parts = subsection.subsubsections();
            while let Some(part) = parts.next()?.filter(|_| subsection.vendor() == b"aeabi") {
                if part.tag() == FILE_SCOPE {
                    self.read_elf_build_attributes(part.attributes())?;
                }
            }
        }
        Ok(())
    }

    /// Reads the attributes of a file from its tags.
    fn read_elf_build_attributes(&mut self, mut values: AttributeReader) -> object::Result<()> {
        while let Some(tag) = values.read_tag()? {
            match tag {
                CPU_ARCH => self.arch = values.read_integer()?,
                CPU_ARCH_PROFILE => self.profile = values.read_integer()?,
                FP_ARCH => self.float = values.read_integer()?,
                COMPATIBILITY => {
                    values.read_integer()?;
                    values.read_string()?;
                }
                CPU_RAW_NAME | CPU_NAME => {
                    values.read_string()?;
                }
                _ if tag > COMPATIBILITY && tag % 2 == 1 => {
                    values.read_string()?;
                }
                _ => {
                    values.read_integer()?;
                }
            }
        }
        Ok(())
    }

    /// Returns the first thing that the image needs and a core lacks, and the core's name.
    pub(super) fn first_missing_core_feature(self, core: Core) -> Option<(&'static str, &'static str)> {
        let needs = match self.profile.try_into().map(char::from_u32) {
            Ok(Some('A')) => "an A-profile core",
            Ok(Some('R')) => "an R-profile core",
            _ => match (self.arch, self.float) {
                (V8_M_BASE | V8_M_MAIN | V8_1_M_MAIN, _) => "ARMv8-M",
                (V7, _) if core == Core::M0Plus => "ARMv7-M",
                (V7E_M, _) if matches!(core, Core::M0Plus | Core::M3) => "ARMv7E-M",
                (arch, _) if arch > V7E_M => "an architecture newer than ARMv7E-M",
                (_, 1..) if matches!(core, Core::M0Plus | Core::M3) => "floating point in hardware",
                (_, FP_V5..) if core == Core::M4F => "floating point of version 5",
                _ => return None,
            },
        };
        Some((needs, core.core_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V6S_M: u64 = 12;
    const M_PROFILE: u64 = b'M' as u64;

    fn lacks(arch: u64, profile: u64, float: u64) -> Vec<Core> {
        let cores = [Core::M0Plus, Core::M3, Core::M4F, Core::M7];
        cores
            .into_iter()
            .filter(|core| RequiredCoreFeatures { arch, profile, float }.first_missing_core_feature(*core).is_some())
            .collect()
    }

    #[test]
    fn core_accepts_code_of_smaller_cores() {
        use Core::{M0Plus, M3, M4F, M7};
        assert_eq!(lacks(0, 0, 0), []);
        assert_eq!(lacks(V6S_M, M_PROFILE, 0), []);
        assert_eq!(lacks(V7, M_PROFILE, 0), [M0Plus]);
        assert_eq!(lacks(V7E_M, M_PROFILE, 0), [M0Plus, M3]);
        assert_eq!(lacks(V7E_M, M_PROFILE, 6), [M0Plus, M3]);
        assert_eq!(lacks(V7, M_PROFILE, 6), [M0Plus, M3]);
        assert_eq!(lacks(V7E_M, M_PROFILE, 8), [M0Plus, M3, M4F]);
        assert_eq!(lacks(V8_M_BASE, M_PROFILE, 0), [M0Plus, M3, M4F, M7]);
        assert_eq!(lacks(V7, u64::from(b'A'), 3), [M0Plus, M3, M4F, M7]);
    }
}
