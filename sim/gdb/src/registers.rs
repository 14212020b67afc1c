//! Registers as gdb knows those of a Cortex-M, and their description for it.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use gdbstub::arch::{Arch, RegId, Registers};
use rtoslab_machine::board::Board;

/// General registers in the order of gdb's feature `org.gnu.gdb.arm.m-profile`. The board's names.
const GENERAL: [&str; 17] =
    ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc", "xpsr"];
/// Place of the program counter.
const PC: usize = 15;
/// Those that only some cores have. Shown as far as the board names them.
const SPECIAL: [&str; 6] = ["msp", "psp", "primask", "basepri", "faultmask", "control"];
/// Double registers of the floating-point unit. Each is two of the board's single ones.
const DOUBLES: usize = 16;

/// The Cortex-M architecture for `gdbstub`: 32-bit addresses, and the registers of [`Layout`].
#[derive(Debug)]
pub struct CortexM;

impl Arch for CortexM {
    /// The type of an address.
    type Usize = u32;
    /// The type of all registers of a core.
    type Registers = RegisterValues;
    /// The length of an instruction, as gdb gives it with a breakpoint.
    type BreakpointKind = usize;
    /// The type that names a single register.
    type RegId = NoRegisterId;
}

/// The identifier of a single register: there is none, because registers are read and written all at once.
#[derive(Debug)]
pub struct NoRegisterId;

impl RegId for NoRegisterId {
    /// Returns `None`: registers are read and written all at once.
    fn from_raw_id(_: usize) -> Option<(NoRegisterId, Option<NonZeroUsize>)> {
        None
    }
}

/// The values of a core's registers in the order of [`Layout`], a double as two words. `None`: unknown.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RegisterValues(pub Vec<Option<u32>>);

impl Registers for RegisterValues {
    /// The type of the program counter.
    type ProgramCounter = u32;

    /// Returns the program counter, 0 if it is unknown.
    fn pc(&self) -> u32 {
        self.0.get(PC).copied().flatten().unwrap_or(0)
    }

    /// Writes the registers' bytes in gdb's order. `None` stands for an unknown byte.
    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        for word in &self.0 {
            let bytes = word.map_or([None; 4], |word| word.to_le_bytes().map(Some));
            bytes.into_iter().for_each(&mut write_byte);
        }
    }

    /// Reads the registers from bytes in gdb's order. Fails if they are no whole words.
    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let words = bytes.chunks(4).map(|word| word.try_into().map(|word| Some(u32::from_le_bytes(word))));
        self.0 = words.collect::<Result<_, _>>().map_err(drop)?;
        Ok(())
    }
}

/// Which registers a board has, in the order in which gdb gets them.
pub struct Layout {
    names: Vec<String>,
    xml: String,
}

impl Layout {
    /// Returns the registers of a board's cores, which are alike.
    pub fn register_layout_of_board(board: &dyn Board) -> Layout {
        let known: Vec<String> = board.core_registers(0).into_iter().map(|(name, _)| name).collect();
        let has = |name: &str| known.iter().any(|register| register == name);
        let mut names: Vec<String> = GENERAL.iter().map(|name| (*name).to_owned()).collect();
        let mut xml = String::from(
            "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
             <architecture>arm</architecture><feature name=\"org.gnu.gdb.arm.m-profile\">",
        );
        for name in GENERAL {
            let kind = match name {
                "sp" => " type=\"data_ptr\"",
                "pc" => " type=\"code_ptr\"",
                _ => "",
            };
            write!(xml, "<reg name=\"{name}\" bitsize=\"32\"{kind}/>").expect("a string takes it");
        }
        if has("s0") {
            xml.push_str("</feature><feature name=\"org.gnu.gdb.arm.vfp\">");
            for double in 0..DOUBLES {
                names.extend([format!("s{}", 2 * double), format!("s{}", 2 * double + 1)]);
                write!(xml, "<reg name=\"d{double}\" bitsize=\"64\" type=\"ieee_double\"/>")
                    .expect("a string takes it");
            }
            names.push("fpscr".to_owned());
            xml.push_str("<reg name=\"fpscr\" bitsize=\"32\" group=\"float\"/>");
        }
        // By the name gdb finds the stack pointers, and with them the frame below an exception's.
        xml.push_str("</feature><feature name=\"org.gnu.gdb.arm.m-system\">");
        for name in SPECIAL.into_iter().filter(|name| has(name)) {
            names.push(name.to_owned());
            let kind = if name.ends_with("sp") { " type=\"data_ptr\"" } else { "" };
            write!(xml, "<reg name=\"{name}\" bitsize=\"32\" group=\"system\"{kind}/>").expect("a string takes it");
        }
        xml.push_str("</feature></target>");
        Layout { names, xml }
    }

    /// Returns the description of the registers that gdb asks for.
    pub fn registers_xml(&self) -> &str {
        &self.xml
    }

    /// Returns a core's registers.
    pub fn read_registers(&self, board: &dyn Board, core: usize) -> RegisterValues {
        self.register_values_in_gdb_order(&board.core_registers(core))
    }

    /// Returns a core's registers, given by name, in gdb's order. Others are unknown.
    pub fn register_values_in_gdb_order(&self, held: &[(String, u32)]) -> RegisterValues {
        let value = |name: &String| held.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
        RegisterValues(self.names.iter().map(value).collect())
    }

    /// Returns whether gdb has sent a value for each register.
    pub fn has_all_registers(&self, sent: &RegisterValues) -> bool {
        sent.0.len() == self.names.len()
    }

    /// Returns the registers in which `wanted` differs from the core's, with the new values.
    pub fn find_changed_registers<'w>(
        &'w self,
        board: &dyn Board,
        core: usize,
        wanted: &'w RegisterValues,
    ) -> Vec<(&'w str, u32)> {
        let held = self.read_registers(board, core);
        let pairs = self.names.iter().zip(held.0).zip(&wanted.0);
        pairs
            .filter(|((_, before), after)| before != *after)
            .filter_map(|((name, _), after)| Some((name.as_str(), (*after)?)))
            .collect()
    }
}
