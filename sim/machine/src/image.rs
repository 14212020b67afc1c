//! Firmware images: ELF and UF2, told apart by their content.

mod attributes;
mod uf2;

pub use attributes::Core;
use attributes::RequiredCoreFeatures;
use object::elf::{ELFCLASS64, ELFDATA2MSB, EM_ARM, FileHeader32, PT_LOAD, SHF_ALLOC, SHT_NOBITS};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind, SymbolSection};

/// The reason why an image cannot be used. The message is one sentence for a person.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ImageError(pub String);

/// A function, object or label of an image, with its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Address without the Thumb bit.
    pub address: u32,
    /// Size in bytes, 0 if unknown.
    pub bytes: u32,
    /// Name as in the symbol table.
    pub name: String,
    /// A place in the code without type or size, as assembly labels are, or an absolute number: it can be looked up,
    /// but bounds no function.
    pub label: bool,
}

/// An image file that was parsed: its segments, symbols and entry point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedImageFile {
    /// Load address and content of each piece, by address.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// Entry point of an ELF. Lowest address of a UF2.
    pub entry: u32,
    /// Functions and objects by address, then labels by address. Symbols. The best-known one of several at one address
    /// is first.
    pub symbols: Vec<Symbol>,
    /// The image's requirements of its core, by its compiler.
    needs: RequiredCoreFeatures,
}

impl ParsedImageFile {
    /// Parses an image. `name` is used in messages.
    pub fn parse_firmware_image(data: &[u8], name: &str) -> Result<ParsedImageFile, ImageError> {
        match data {
            [0x7f, b'E', b'L', b'F', ..] => parse_elf(data, name),
            [b'U', b'F', b'2', b'\n', ..] => uf2::parse_uf2(data, name),
            [] => Err(ImageError(format!("{name} is empty; give an ELF or UF2 image"))),
            _ => {
                let first: Vec<String> = data.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
                Err(ImageError(format!(
                    "{name} is neither an ELF nor a UF2 image (its first bytes are {} in hexadecimal); give the file the linker or elf2uf2 wrote",
                    first.join(" ")
                )))
            }
        }
    }

    /// Refuses an image whose build attributes require what the core does not have.
    pub fn check_core_can_execute(&self, core: Core, name: &str) -> Result<(), ImageError> {
        match self.needs.first_missing_core_feature(core) {
            Some((needs, core)) => Err(ImageError(format!(
                "{name} is built for {needs}, which the board's {core} does not have; build it for this board's core"
            ))),
            None => Ok(()),
        }
    }

    /// Returns the address of a symbol of the image.
    pub fn symbol_address(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }
}

/// Parses an ELF file.
fn parse_elf(data: &[u8], name: &str) -> Result<ParsedImageFile, ImageError> {
    let broken = |error: object::Error| {
        ImageError(format!("{name} is a broken ELF file ({error}); build it again or copy it again"))
    };
    let other_form = match data {
        [_, _, _, _, ELFCLASS64, ..] => Some("64-bit"),
        [_, _, _, _, _, ELFDATA2MSB, ..] => Some("big-endian"),
        _ => None,
    };
    if let Some(form) = other_form {
        return Err(ImageError(format!(
            "{name} is a {form} ELF file, but the boards are little-endian with 32 bits; build it for the board"
        )));
    }
    let header = FileHeader32::<Endianness>::parse(data).map_err(broken)?;
    let endian = header.endian().map_err(broken)?;
    if header.e_machine(endian) != EM_ARM {
        return Err(ImageError(format!(
            "{name} is an ELF file for machine {}, not for Arm; build it for the board",
            header.e_machine(endian)
        )));
    }
    let mut image = ParsedImageFile { entry: header.e_entry(endian), ..ParsedImageFile::default() };
    for segment in header.program_headers(endian, data).map_err(broken)? {
        if segment.p_type(endian) != PT_LOAD || segment.p_filesz(endian) == 0 {
            continue;
        }
        if segment.p_filesz(endian) > segment.p_memsz(endian) {
            return Err(ImageError(format!(
                "{name} is a broken ELF file (the segment for {:#010x} has more bytes in the file than in memory); build it again or copy it again",
                segment.p_paddr(endian)
            )));
        }
        let bytes = segment.data(endian, data).map_err(|()| {
            ImageError(format!(
                "{name} is truncated: a segment is after the end of the file; build it again or copy it again"
            ))
        })?;
        let headers = match segment.p_offset(endian) {
            0 => elf_header_bytes_before_first_section(header, endian, data, bytes.len()).map_err(broken)?,
            _ => 0,
        };
        image.segments.push((segment.p_paddr(endian).wrapping_add(headers as u32), bytes[headers..].to_vec()));
    }
    if image.segments.is_empty() {
        return Err(ImageError(format!("{name} has no content to load; link it into an executable first")));
    }
    image.segments.sort();
    if let Some(address) = first_contradicting_address(&image.segments) {
        return Err(ImageError(format!(
            "{name} has two segments with different bytes for {address:#010x}; correct the load addresses in the linker script"
        )));
    }
    let file = ElfFile::<FileHeader32<Endianness>>::parse(data).map_err(broken)?;
    image.symbols = elf_symbols(&file);
    image.needs = RequiredCoreFeatures::build_attributes_of_elf(header, endian, data);
    Ok(image)
}

/// Returns the first address for which two segments have different bytes. The segments are in the order of their
/// addresses.
fn first_contradicting_address(segments: &[(u32, Vec<u8>)]) -> Option<u32> {
    segments.iter().enumerate().find_map(|(number, (start, bytes))| {
        let others = segments[number + 1..].iter();
        others.take_while(|(other, _)| ((other - start) as usize) < bytes.len()).find_map(|(other, theirs)| {
            let offset = (other - start) as usize;
            let differing = bytes[offset..].iter().zip(theirs).position(|(one, two)| one != two)?;
            Some(other.wrapping_add(differing as u32))
        })
    })
}

/// Returns the bytes before the first section of a segment that begins at the start of the file. The linker puts the
/// ELF header there if that saves a page, but neither objcopy nor a debugger loads it.
fn elf_header_bytes_before_first_section(
    header: &FileHeader32<Endianness>,
    endian: Endianness,
    data: &[u8],
    segment_bytes: usize,
) -> object::Result<usize> {
    let is_content = |kind: u32, flags: u32| kind != SHT_NOBITS && flags & SHF_ALLOC != 0;
    let sections = header.section_headers(endian, data)?.iter();
    let offsets = sections
        .filter(|section| is_content(section.sh_type(endian), section.sh_flags(endian)) && section.sh_size(endian) > 0)
        .map(|section| section.sh_offset(endian) as usize);
    Ok(offsets.min().filter(|&offset| offset < segment_bytes).unwrap_or(0))
}

/// Returns the functions and objects of an ELF file by address, each address once. Global names come first.
fn elf_symbols(file: &ElfFile<FileHeader32<Endianness>>) -> Vec<Symbol> {
    let mut symbols: Vec<(bool, Symbol)> = file
        .symbols()
        .filter(|symbol| symbol.section_index().is_some() || symbol.section() == SymbolSection::Absolute)
        .filter_map(|symbol| {
            let name = symbol.name().ok()?;
            // Mapping symbols ($t, $d) mark code and data, they name nothing.
            if name.is_empty() || name.starts_with('$') {
                return None;
            }
            let label = match symbol.kind() {
                SymbolKind::File => return None,
                // A number, such as an offset in a structure: it can be looked up, but takes no memory.
                _ if symbol.section() == SymbolSection::Absolute => true,
                SymbolKind::Text | SymbolKind::Data => false,
                SymbolKind::Unknown | SymbolKind::Label => symbol.size() == 0,
                _ => return None,
            };
            let code = symbol.kind() == SymbolKind::Text;
            let address = symbol.address() as u32 & if code { !1 } else { !0 };
            let bytes = symbol.size() as u32;
            Some((symbol.is_weak(), Symbol { address, bytes, name: name.to_owned(), label }))
        })
        .collect();
    // A weak alias, as handlers that nobody wrote are of a default one, is not what its code is known by.
    symbols.sort_by(|(weak_a, a), (weak_b, b)| {
        (a.label, a.address, b.bytes, weak_a, &a.name).cmp(&(b.label, b.address, a.bytes, weak_b, &b.name))
    });
    symbols.into_iter().map(|(_, symbol)| symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_images_name_the_file_and_the_remedy() {
        for data in [&b""[..], b"MZ\x90\x00", b"\x7fELF", b"UF2\n and less than a block"] {
            let error = ParsedImageFile::parse_firmware_image(data, "fw.bin").unwrap_err().0;
            assert!(error.starts_with("fw.bin ") && error.contains("; "), "{error}");
        }
        let unknown = ParsedImageFile::parse_firmware_image(b"MZ\x90\x00\x03", "fw.exe").unwrap_err().0;
        assert!(unknown.contains("(its first bytes are 4d 5a 90 00 in hexadecimal)"), "{unknown}");
    }

    /// Returns an ELF file for Arm with these segments: address, bytes, bytes in memory.
    fn elf_with_segments(segments: &[(u32, &[u8], u32)]) -> Vec<u8> {
        let words = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x28\0".to_vec();
        let count = segments.len() as u32;
        file.extend(words(&[1, 0x0800_0001, 52, 0, 0x0500_0000, 52 | 32 << 16, count | 40 << 16, 0]));
        let mut offset = 52 + 32 * count;
        for (address, bytes, in_memory) in segments {
            file.extend(words(&[PT_LOAD, offset, *address, *address, bytes.len() as u32, *in_memory, 5, 4]));
            offset += bytes.len() as u32;
        }
        segments.iter().for_each(|(_, bytes, _)| file.extend_from_slice(bytes));
        file
    }

    #[test]
    fn contradicting_elf_files_are_refused_with_their_cause() {
        let parse = |file: &[u8]| ParsedImageFile::parse_firmware_image(file, "fw.elf");
        let equal = elf_with_segments(&[(0x0800_0000, b"abcdefgh", 8), (0x0800_0004, b"efgh", 4)]);
        assert_eq!(parse(&equal).map(|image| image.segments.len()), Ok(2));
        let other = elf_with_segments(&[(0x0800_0000, b"abcdefgh", 8), (0x0800_0004, b"efXh", 4)]);
        let error = parse(&other).unwrap_err().0;
        assert!(error.contains("two segments with different bytes for 0x08000006; "), "{error}");
        let longer = elf_with_segments(&[(0x0800_0000, b"abcdefgh", 4)]);
        let error = parse(&longer).unwrap_err().0;
        assert!(error.contains("the segment for 0x08000000 has more bytes in the file than in memory"), "{error}");
        for (place, form) in [(4, "64-bit"), (5, "big-endian")] {
            let mut file = equal.clone();
            file[place] = 2;
            let error = parse(&file).unwrap_err().0;
            assert!(error.starts_with(&format!("fw.elf is a {form} ELF file, but")), "{error}");
        }
    }
}
