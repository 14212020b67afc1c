//! Firmware images: ELF and UF2, told apart by their content.

use std::collections::BTreeMap;

use object::elf::{EM_ARM, FileHeader32, PT_LOAD};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind, SymbolSection};

/// Why an image cannot be used. The message is one sentence for a person.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ImageError(pub String);

/// A named address.
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

/// What the loader takes from an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// Load address and content of each piece, by address.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// Entry point of an ELF; lowest address of a UF2.
    pub entry: u32,
    /// Functions and objects by address, then labels by address.
    pub symbols: Vec<Symbol>,
}

const UF2_MAGIC: [u32; 3] = [0x0a32_4655, 0x9e5d_5157, 0x0ab1_6f30];
const UF2_FAMILY_RP2040: u32 = 0xe48b_ff56;
const UF2_NOT_MAIN_FLASH: u32 = 1;
const UF2_FAMILY_PRESENT: u32 = 0x2000;

impl Image {
    /// Parses an image; `name` is used in messages.
    pub fn parse(data: &[u8], name: &str) -> Result<Image, ImageError> {
        match data {
            [0x7f, b'E', b'L', b'F', ..] => parse_elf(data, name),
            [b'U', b'F', b'2', b'\n', ..] => parse_uf2(data, name),
            [] => Err(ImageError(format!("{name} is empty; give an ELF or UF2 image"))),
            _ => Err(ImageError(format!(
                "{name} is neither an ELF nor a UF2 image (its first bytes are {:02x?}); give the file the linker or elf2uf2 wrote",
                &data[..data.len().min(4)]
            ))),
        }
    }

    /// Address of a symbol.
    pub fn symbol(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }
}

fn parse_elf(data: &[u8], name: &str) -> Result<Image, ImageError> {
    let broken = |error: object::Error| {
        ImageError(format!("{name} is a broken ELF file ({error}); build it again or copy it again"))
    };
    let header = FileHeader32::<Endianness>::parse(data).map_err(broken)?;
    let endian = header.endian().map_err(broken)?;
    if header.e_machine(endian) != EM_ARM {
        return Err(ImageError(format!(
            "{name} is an ELF file for machine {}, not for Arm; build it for the board",
            header.e_machine(endian)
        )));
    }
    let mut image = Image { entry: header.e_entry(endian), ..Image::default() };
    for segment in header.program_headers(endian, data).map_err(broken)? {
        if segment.p_type(endian) != PT_LOAD || segment.p_filesz(endian) == 0 {
            continue;
        }
        let bytes = segment.data(endian, data).map_err(|()| {
            ImageError(format!("{name} is cut short: a segment lies behind its end; build it again or copy it again"))
        })?;
        image.segments.push((segment.p_paddr(endian), bytes.to_vec()));
    }
    if image.segments.is_empty() {
        return Err(ImageError(format!("{name} has nothing to load; link it into an executable first")));
    }
    image.segments.sort();
    let file = ElfFile::<FileHeader32<Endianness>>::parse(data).map_err(broken)?;
    image.symbols = elf_symbols(&file);
    Ok(image)
}

fn elf_symbols(file: &ElfFile<FileHeader32<Endianness>>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = file
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
            Some(Symbol { address, bytes: symbol.size() as u32, name: name.to_owned(), label })
        })
        .collect();
    symbols.sort_by(|a, b| (a.label, a.address, b.bytes, &a.name).cmp(&(b.label, b.address, a.bytes, &b.name)));
    symbols
}

fn parse_uf2(data: &[u8], name: &str) -> Result<Image, ImageError> {
    if !data.len().is_multiple_of(512) {
        return Err(ImageError(format!(
            "{name} is a broken UF2 file: {} bytes is not a whole number of 512-byte blocks; copy it again",
            data.len()
        )));
    }
    let mut pieces: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for (number, block) in data.chunks_exact(512).enumerate() {
        let word = |offset: usize| {
            u32::from_le_bytes([block[offset], block[offset + 1], block[offset + 2], block[offset + 3]])
        };
        if [word(0), word(4), word(508)] != UF2_MAGIC {
            return Err(ImageError(format!(
                "{name} is a broken UF2 file: block {number} has a wrong magic number; copy it again"
            )));
        }
        let (flags, bytes) = (word(8), word(16) as usize);
        if flags & UF2_NOT_MAIN_FLASH != 0 || flags & UF2_FAMILY_PRESENT != 0 && word(28) != UF2_FAMILY_RP2040 {
            continue;
        }
        if bytes > 476 {
            return Err(ImageError(format!(
                "{name} is a broken UF2 file: block {number} claims {bytes} bytes; copy it again"
            )));
        }
        pieces.insert(word(12), block[32..32 + bytes].to_vec());
    }
    if pieces.is_empty() {
        return Err(ImageError(format!(
            "{name} holds no block for the RP2040 (family 0xe48bff56); use the UF2 of this board"
        )));
    }
    let entry = *pieces.keys().next().unwrap_or(&0);
    Ok(Image { segments: join(pieces), entry, symbols: Vec::new() })
}

/// Joins pieces that follow each other.
fn join(pieces: BTreeMap<u32, Vec<u8>>) -> Vec<(u32, Vec<u8>)> {
    let mut joined: Vec<(u32, Vec<u8>)> = Vec::new();
    for (address, bytes) in pieces {
        match joined.last_mut() {
            Some((base, last)) if u64::from(*base) + last.len() as u64 == u64::from(address) => last.extend(bytes),
            _ => joined.push((address, bytes)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uf2_block(address: u32, payload: &[u8], family: u32) -> Vec<u8> {
        let mut block = vec![0; 512];
        let words = [UF2_MAGIC[0], UF2_MAGIC[1], UF2_FAMILY_PRESENT, address, payload.len() as u32, 0, 1, family];
        for (index, word) in words.into_iter().enumerate() {
            block[index * 4..index * 4 + 4].copy_from_slice(&word.to_le_bytes());
        }
        block[32..32 + payload.len()].copy_from_slice(payload);
        block[508..].copy_from_slice(&UF2_MAGIC[2].to_le_bytes());
        block
    }

    #[test]
    fn uf2_blocks_are_joined_and_other_families_skipped() {
        let mut data = uf2_block(0x1000_0100, &[3; 256], UF2_FAMILY_RP2040);
        data.extend(uf2_block(0x1000_0000, &[1; 256], UF2_FAMILY_RP2040));
        data.extend(uf2_block(0x2000_0000, &[9; 256], 0xdead_beef));
        let image = Image::parse(&data, "x.uf2").unwrap();
        assert_eq!(image.segments.len(), 1);
        assert_eq!(image.segments[0].0, 0x1000_0000);
        assert_eq!(image.segments[0].1[255..257], [1, 3]);
    }

    #[test]
    fn broken_images_name_the_file_and_the_remedy() {
        let mut torn = uf2_block(0x1000_0000, &[1; 256], UF2_FAMILY_RP2040);
        torn.truncate(500);
        for data in [&b""[..], b"MZ\x90\x00", b"\x7fELF", &torn] {
            let error = Image::parse(data, "fw.bin").unwrap_err().0;
            assert!(error.starts_with("fw.bin ") && error.contains("; "), "{error}");
        }
    }
}
