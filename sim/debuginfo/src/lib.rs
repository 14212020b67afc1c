//! The structures in an image's debug information: their members with offsets and sizes.
//!
//! Nothing in the file is believed: references that lead in circles or out of it, and structures without end, are
//! errors.

pub mod logs;
mod names;
mod units;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::ZlibDecoder;
use gimli::constants as dw;
use gimli::{AttributeValue, DwarfSections, EndianSlice, LittleEndian, Operation};
use object::{CompressionFormat, Object, ObjectSection};
use thiserror::Error;

pub use crate::names::readable_symbol_name;
use crate::units::{CompilationUnits, Place};

/// Structures lie so deep in each other at most, and a type has so many names.
const DEPTH: usize = 32;
/// Members of one structure at most, with those of structures inside: one that holds itself twice doubles at each
/// level.
const MEMBERS: usize = 10_000;
/// The bytes of a member whose type does not tell its size.
const UNTOLD_BYTES: u64 = 4;
/// A section that is compressed holds so much at most.
const SECTION_BYTES: u64 = 256 << 20;

/// The reason why the debug information cannot be read.
#[derive(Debug, Error)]
pub enum DebugInfoError {
    /// The file's own tables.
    #[error("{0}")]
    File(#[from] object::Error),
    /// The entries.
    #[error("{0}")]
    Entries(#[from] gimli::Error),
    /// A section that is compressed.
    #[error("{0}")]
    Compressed(#[from] std::io::Error),
    /// An entry says what cannot be.
    #[error("{0}")]
    Said(&'static str),
}

/// A member of a structure: its name, offset and size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructureMember {
    /// `outer.inner` where it is in a structure inside.
    pub name: String,
    /// The offset from the structure's begin.
    pub offset: u64,
    /// The size. For an array it is that of an element. 4 where that is not told. The size. For a bit field it is that
    /// of the bytes it touches.
    pub bytes: u64,
    /// Whether there are several in a row.
    pub is_array: bool,
    /// The bits of a bit field: the first one in its first byte, and their number.
    pub bits: Option<(u64, u64)>,
}

/// Returns the members of each of these structures in the image's debug information, by the name of the structure or of
/// its type. If several have one name, the first one counts.
pub fn members_of_structures(
    image: &[u8],
    names: &[String],
) -> Result<Vec<(String, Vec<StructureMember>)>, DebugInfoError> {
    let file = object::File::parse(image)?;
    let sections = DwarfSections::load(|id| section_bytes(&file, id.name()))?;
    let units =
        CompilationUnits::list_compilation_units(sections.borrow(|section| EndianSlice::new(section, LittleEndian)));
    let mut missing: BTreeSet<&[u8]> = names.iter().map(String::as_bytes).collect();
    let mut structures = Vec::new();
    for unit in 0.. {
        if missing.is_empty() {
            break;
        }
        let Some(top) = units.root_debug_entry_of_unit(unit)? else { break };
        for child in units.child_debug_info_entries(top)? {
            let Some(name) = units.name_of_debug_info_entry(child)?.filter(|name| missing.contains(name)) else {
                continue;
            };
            let Some(structure) = structure_named_by_debug_entry(&units, child)? else { continue };
            let mut members = Vec::new();
            collect_structure_members(
                &units,
                structure,
                &NestedStructurePrefix { before: String::new(), base: 0, depth: 0 },
                &mut members,
            )?;
            missing.remove(name);
            structures.push((debug_info_name_as_text(name), members));
        }
    }
    Ok(structures)
}

/// A source file, and the addresses of its code, from each first one to after the last.
pub type Source = (String, Vec<(u64, u64)>);

/// Returns the source file of each compilation unit, and the address ranges of its code.
pub fn source_files_and_ranges(image: &[u8]) -> Result<Vec<Source>, DebugInfoError> {
    let file = object::File::parse(image)?;
    let sections = DwarfSections::load(|id| section_bytes(&file, id.name()))?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let mut files = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let Some(name) = unit.name else { continue };
        let mut ranges = Vec::new();
        let mut unit_ranges = dwarf.unit_ranges(&unit)?;
        while let Some(range) = unit_ranges.next()? {
            ranges.push((range.begin, range.end));
        }
        files.push((debug_info_name_as_text(name.slice()), ranges));
    }
    Ok(files)
}

/// Returns a section's bytes. None if the file has no such section.
fn section_bytes<'a>(file: &object::File<'a>, name: &str) -> Result<Cow<'a, [u8]>, DebugInfoError> {
    let Some(section) = file.section_by_name(name) else { return Ok(Cow::default()) };
    let held = section.compressed_data()?;
    match held.format {
        CompressionFormat::None => Ok(Cow::Borrowed(held.data)),
        CompressionFormat::Zlib => {
            let mut whole = Vec::new();
            ZlibDecoder::new(held.data).take(SECTION_BYTES).read_to_end(&mut whole)?;
            Ok(Cow::Owned(whole))
        }
        _ => Err(DebugInfoError::Said("its compression is unknown")),
    }
}

/// Returns the structure to which an entry leads: itself, or the unnamed one that it names.
fn structure_named_by_debug_entry(units: &CompilationUnits<'_>, each: Place) -> Result<Option<Place>, DebugInfoError> {
    let mut at = each;
    for _ in 0..DEPTH {
        let entry = units.read_debug_information_entry(at)?;
        match (entry.tag(), units.find_referenced_debug_info_entry(at, dw::DW_AT_type)?) {
            (dw::DW_TAG_structure_type, _) => return Ok(entry.has_children().then_some(at)),
            (dw::DW_TAG_typedef, Some(named)) if units.name_of_debug_info_entry(named)?.is_none() => at = named,
            _ => return Ok(None),
        }
    }
    Err(DebugInfoError::Said("it contains a type that is defined as itself"))
}

/// A structure that is itself a member: the prefix of its members' names and its offset.
struct NestedStructurePrefix {
    before: String,
    base: u64,
    depth: usize,
}

/// Appends the members of a structure or union, and of those inside it, to `found`. Members of unnamed structures count
/// as those of the outer one, as in C.
fn collect_structure_members(
    units: &CompilationUnits<'_>,
    holder: Place,
    outer: &NestedStructurePrefix,
    found: &mut Vec<StructureMember>,
) -> Result<(), DebugInfoError> {
    if outer.depth > DEPTH {
        return Err(DebugInfoError::Said("it contains a structure that contains itself"));
    }
    let is_union = units.read_debug_information_entry(holder)?.tag() == dw::DW_TAG_union_type;
    for child in units.child_debug_info_entries(holder)? {
        if units.read_debug_information_entry(child)?.tag() != dw::DW_TAG_member {
            continue;
        }
        let kind = member_type_and_size(units, child)?;
        let Some(spot) = structure_member_position(units, child, kind.bytes, is_union)? else { continue };
        let offset = spot.offset.saturating_add(outer.base);
        let name = units.name_of_debug_info_entry(child)?.map(debug_info_name_as_text);
        if let Some(name) = &name {
            let name = format!("{}{name}", outer.before);
            found.push(StructureMember { name, offset, bytes: spot.bytes, is_array: kind.is_array, bits: spot.bits });
            if found.len() > MEMBERS {
                return Err(DebugInfoError::Said("it contains a structure with more than 10,000 members"));
            }
        }
        let Some(inside) = kind.at.filter(|_| !kind.is_array) else { continue };
        if matches!(
            units.read_debug_information_entry(inside)?.tag(),
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type
        ) {
            let before = name.map_or_else(|| outer.before.clone(), |name| format!("{}{name}.", outer.before));
            collect_structure_members(
                units,
                inside,
                &NestedStructurePrefix { before, base: offset, depth: outer.depth + 1 },
                found,
            )?;
        }
    }
    Ok(())
}

/// A member's type behind typedefs and arrays, its size in bytes, and whether the member is an array.
struct Kind {
    at: Option<Place>,
    bytes: u64,
    is_array: bool,
}

/// Returns the type behind a member's typedefs and arrays, and the member's size. The search ends at a pointer: what
/// it points to is not part of the member, and not every compiler states a pointer's size.
fn member_type_and_size(units: &CompilationUnits<'_>, member: Place) -> Result<Kind, DebugInfoError> {
    let (mut at, mut is_array) = (member, false);
    for _ in 0..DEPTH {
        let Some(next) = units.find_referenced_debug_info_entry(at, dw::DW_AT_type)? else {
            return Ok(Kind { at: None, bytes: UNTOLD_BYTES, is_array });
        };
        at = next;
        let entry = units.read_debug_information_entry(at)?;
        let size = entry.attr_value(dw::DW_AT_byte_size)?;
        let bytes = match (entry.tag(), size) {
            (dw::DW_TAG_array_type, _) => {
                is_array = true;
                continue;
            }
            (_, Some(told)) => attribute_as_number(told)?,
            (dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type, None) => {
                units.encoding_of_compilation_unit(at)?.address_size.into()
            }
            (_, None) => continue,
        };
        return Ok(Kind { at: Some(at), bytes, is_array });
    }
    Err(DebugInfoError::Said("it contains a type that is defined as itself"))
}

/// The offset, size and bits of a member in the structure that directly contains it.
struct StructureMemberPosition {
    offset: u64,
    bytes: u64,
    bits: Option<(u64, u64)>,
}

/// Returns the offset, size and bits of a member. None if it has no offset, because it is no part of the structure.
/// `bytes`: its type's.
fn structure_member_position(
    units: &CompilationUnits<'_>,
    member: Place,
    bytes: u64,
    is_union: bool,
) -> Result<Option<StructureMemberPosition>, DebugInfoError> {
    let entry = units.read_debug_information_entry(member)?;
    let value_of = |attribute| entry.attr_value(attribute)?.map(attribute_as_number).transpose();
    let place = entry.attr_value(dw::DW_AT_data_member_location)?;
    let place = place.map(|value| member_location(value, units.encoding_of_compilation_unit(member)?)).transpose()?;
    let first = match (value_of(dw::DW_AT_data_bit_offset)?, value_of(dw::DW_AT_bit_size)?) {
        (Some(first), Some(width)) => Some((first, width)),
        (None, Some(width)) => {
            // Until DWARF 3: from the uppermost bit of the unit that the field is kept in.
            let unit = value_of(dw::DW_AT_byte_size)?.unwrap_or(bytes).saturating_mul(8);
            let above = entry.attr_value(dw::DW_AT_bit_offset)?.and_then(|value| value.sdata_value());
            let below = i128::from(unit) - i128::from(above.unwrap_or(0)) - i128::from(width);
            let begins = i128::from(place.unwrap_or(0)) * 8 + if above.is_some() { below } else { 0 };
            let begins = u64::try_from(begins)
                .map_err(|_| DebugInfoError::Said("it contains a bit field before the start of its structure"))?;
            Some((begins, width))
        }
        (_, None) => None,
    };
    Ok(match (first, place) {
        (Some((first, width)), _) => {
            let bits = (first % 8, width);
            Some(StructureMemberPosition {
                offset: first / 8,
                bytes: bits.0.saturating_add(width).div_ceil(8),
                bits: Some(bits),
            })
        }
        (None, Some(offset)) => Some(StructureMemberPosition { offset, bytes, bits: None }),
        (None, None) => is_union.then_some(StructureMemberPosition { offset: 0, bytes, bits: None }),
    })
}

/// Returns the location of a member: a number, or in DWARF 2 an offset to add to the structure's address.
fn member_location(value: AttributeValue<units::Bytes<'_>>, encoding: gimli::Encoding) -> Result<u64, DebugInfoError> {
    let Some(expression) = value.exprloc_value() else { return attribute_as_number(value) };
    let mut operations = expression.operations(encoding);
    match (operations.next()?, operations.next()?) {
        (Some(Operation::PlusConstant { value }), None) => Ok(value),
        _ => Err(DebugInfoError::Said("the offset of a member is an expression")),
    }
}

/// Returns an attribute's value as a number. An error if it is none.
fn attribute_as_number(value: AttributeValue<units::Bytes<'_>>) -> Result<u64, DebugInfoError> {
    value.udata_value().ok_or(DebugInfoError::Said("the offset or size of a member is not a number"))
}

/// Returns a name as text.
fn debug_info_name_as_text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
