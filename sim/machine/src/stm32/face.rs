//! Registers by name.

use rtoslab_cpu::v7m::core::Request;
use rtoslab_cpu::v7m::exception;
use rtoslab_cpu::v7m::pipeline::Pipeline;

use super::families::Run;
use super::machine::Machine;

impl<F: Run> Machine<F> {
    /// Returns the registers of the core, by name.
    pub fn core_registers(&self) -> Vec<(String, u32)> {
        let core = &self.core;
        let mut named: Vec<(String, u32)> = (0..13).map(|n| (format!("r{n}"), core.r[n])).collect();
        let others = [
            ("sp", core.r[13]),
            ("lr", core.r[14]),
            ("pc", self.next_instruction_address()),
            ("xpsr", core.xpsr()),
            ("msp", core.main_stack_pointer()),
            ("psp", core.process_stack_pointer()),
            ("primask", u32::from(core.primask)),
            ("basepri", u32::from(core.basepri)),
            ("faultmask", u32::from(core.faultmask)),
            ("control", core.control_register_value()),
            ("fpscr", core.fpscr),
            ("vtor", core.scb.vtor),
            ("exception_origin", core.exception_origin),
        ];
        named.extend(others.map(|(name, value)| (name.to_owned(), value)));
        if core.features.float {
            named.extend((0..32).map(|n| (format!("s{n}"), core.s[n])));
        }
        named
    }

    /// Sets a register (`r0`–`r12`, `s0`–`s31`, `sp`, `lr`, `pc`) or the flags (`apsr`). Returns false if there is no
    /// such register, or `pc` is no address of code.
    pub fn set_register(&mut self, name: &str, value: u32) -> bool {
        let core = &mut self.core;
        match name {
            "sp" => core.r[13] = value & !3,
            "lr" => core.r[14] = value,
            "apsr" => {
                core.set_condition_and_saturation_flags(value);
                core.set_ge_flags(value);
            }
            "pc" => {
                exception::jump_to_interworking_address(core, &mut *self.system, value | 1);
                (core.it, core.ici, core.words_moved, core.committed) = (0, 0, 0, false);
                self.system.passed_until = None;
                if core.stray.take().is_some() {
                    core.request = Request::None;
                    return false;
                }
                let at = core.t;
                Pipeline::empty_pipeline(&mut self.pipe, core, &mut *self.system, value & !1, at);
            }
            _ => {
                let number = |prefix: char| name.strip_prefix(prefix)?.parse::<usize>().ok();
                match (number('r'), number('s')) {
                    (Some(n), _) if n < 13 => core.r[n] = value,
                    (_, Some(n)) if n < 32 && core.features.float => core.s[n] = value,
                    _ => return false,
                }
            }
        }
        true
    }
}
