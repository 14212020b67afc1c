//! The entries of debug information by their places, in whichever unit they lie.

use std::cell::OnceCell;

use gimli::constants::{DW_AT_name, DW_AT_sibling, DwAt};
use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, Encoding, EndianSlice, LittleEndian, Unit, UnitHeader, UnitOffset,
};

use crate::DebugInfoError;

/// The bytes of a section with debug information, in the byte order of the board.
pub type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// The place of an entry in the debug information: its unit and its offset there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    unit: usize,
    offset: UnitOffset,
}

/// All compilation units of an image, each read when it is needed.
pub struct CompilationUnits<'a> {
    dwarf: Dwarf<Bytes<'a>>,
    units: Vec<(UnitHeader<Bytes<'a>>, OnceCell<Unit<Bytes<'a>>>)>,
    /// The error after the last one.
    broken: Option<gimli::Error>,
}

impl<'a> CompilationUnits<'a> {
    /// Creates the list of units.
    pub fn list_compilation_units(dwarf: Dwarf<Bytes<'a>>) -> CompilationUnits<'a> {
        let (mut units, mut headers) = (Vec::new(), dwarf.units());
        let broken = loop {
            match headers.next() {
                Ok(Some(header)) => units.push((header, OnceCell::new())),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        CompilationUnits { dwarf, units, broken }
    }

    /// Returns the entry that contains all others of a unit. None after the last unit.
    pub fn root_debug_entry_of_unit(&self, unit: usize) -> Result<Option<Place>, DebugInfoError> {
        match (self.units.get(unit), self.broken) {
            (Some((header, _)), _) => Ok(Some(Place { unit, offset: UnitOffset(header.header_size()) })),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Ok(None),
        }
    }

    /// Returns the entry of the debug information at this place.
    pub fn read_debug_information_entry(
        &self,
        at: Place,
    ) -> Result<DebuggingInformationEntry<'_, '_, Bytes<'a>>, DebugInfoError> {
        Ok(self.read_and_cache_compilation_unit(at.unit)?.entry(at.offset)?)
    }

    /// Returns the places of the entries directly inside an entry, in order.
    pub fn child_debug_info_entries(&self, at: Place) -> Result<Vec<Place>, DebugInfoError> {
        let mut tree = self.read_and_cache_compilation_unit(at.unit)?.entries_tree(Some(at.offset))?;
        let (mut found, mut inside) = (Vec::new(), tree.root()?.children());
        while let Some(child) = inside.next()? {
            let offset = child.entry().offset();
            let sibling = child.entry().attr_value(DW_AT_sibling)?;
            if matches!(sibling, Some(AttributeValue::UnitRef(sibling)) if sibling <= offset) {
                return Err(DebugInfoError::Said("the sibling of an entry is not after it"));
            }
            found.push(Place { unit: at.unit, offset });
        }
        Ok(found)
    }

    /// Returns an entry's name. None for an entry that has none, or an empty one.
    pub fn name_of_debug_info_entry(&self, at: Place) -> Result<Option<&'a [u8]>, DebugInfoError> {
        let Some(value) = self.read_debug_information_entry(at)?.attr_value(DW_AT_name)? else { return Ok(None) };
        let name = self.dwarf.attr_string(self.read_and_cache_compilation_unit(at.unit)?, value)?.slice();
        Ok((!name.is_empty()).then_some(name))
    }

    /// Returns the place of the entry to which an attribute refers.
    pub fn find_referenced_debug_info_entry(
        &self,
        at: Place,
        attribute: DwAt,
    ) -> Result<Option<Place>, DebugInfoError> {
        match self.read_debug_information_entry(at)?.attr_value(attribute)? {
            None => Ok(None),
            Some(AttributeValue::UnitRef(offset)) => Ok(Some(Place { unit: at.unit, offset })),
            Some(AttributeValue::DebugInfoRef(place)) => {
                let starts = |(header, _): &(UnitHeader<_>, _)| header.offset().as_debug_info_offset() <= Some(place);
                let unit = self.units.partition_point(starts).checked_sub(1);
                let inside = unit.and_then(|unit| Some((unit, place.to_unit_offset(&self.units[unit].0)?)));
                let (unit, offset) =
                    inside.ok_or(DebugInfoError::Said("an entry refers to an entry outside all units"))?;
                Ok(Some(Place { unit, offset }))
            }
            Some(_) => Err(DebugInfoError::Said("an entry refers to another one in an unknown form")),
        }
    }

    /// Returns the encoding of the unit that contains an entry: its version and the length of addresses.
    pub fn encoding_of_compilation_unit(&self, at: Place) -> Result<Encoding, DebugInfoError> {
        Ok(self.read_and_cache_compilation_unit(at.unit)?.encoding())
    }

    /// Returns the unit with this number, and reads it if necessary.
    fn read_and_cache_compilation_unit(&self, index: usize) -> Result<&Unit<Bytes<'a>>, DebugInfoError> {
        let (header, read) = &self.units[index];
        if read.get().is_none() {
            let unit = self.dwarf.unit(*header)?;
            return Ok(read.get_or_init(|| unit));
        }
        Ok(read.get().expect("it was read just now"))
    }
}
