//! Which registers of the host hold registers of the target.

/// Those that may: rdx, rsi, rdi, r8 to r11, r14, r15.
const HOSTS: [u8; 9] = [2, 6, 7, 8, 9, 10, 11, 14, 15];

/// The use of one host register: which guest register it holds, and whether it must be written back.
#[derive(Debug, Clone, Copy, Default)]
struct HostRegisterUse {
    /// The target's register in it.
    guest: Option<u8>,
    /// The core has an older value.
    dirty: bool,
    /// When it was last used.
    used: u32,
    /// The current instruction needs it.
    locked: bool,
    /// It is for something else.
    reserved: bool,
}

/// The allocation of guest registers to host registers, while a path's code is emitted.
#[derive(Debug, Clone, Default)]
pub(super) struct Registers {
    held: [HostRegisterUse; HOSTS.len()],
    now: u32,
    /// Those of the target whose value is what it was when they were called so.
    steady: u32,
    /// Registers of the host that were used, by number.
    pub used: u16,
}

impl Registers {
    /// Creates an empty allocation of guest registers that never uses these registers of the host processor.
    pub fn new_guest_register_allocation(hosts: &[u8]) -> Registers {
        let mut registers = Registers::default();
        for (held, host) in registers.held.iter_mut().zip(HOSTS) {
            held.reserved = hosts.contains(&host);
        }
        registers
    }

    /// Makes all host registers available again, at the begin of the next instruction.
    pub fn unlock_all_registers(&mut self) {
        self.now += 1;
        self.held.iter_mut().for_each(|held| held.locked = false);
    }

    /// Returns the host register that holds this guest register, and locks it for the current instruction.
    pub fn find_and_lock_host_register(&mut self, guest: u8) -> Option<u8> {
        let index = self.held.iter().position(|held| held.guest == Some(guest))?;
        let held = &mut self.held[index];
        (held.used, held.locked) = (self.now, true);
        Some(HOSTS[index])
    }

    /// Assigns a host register to this guest register. Also returns the guest register whose value must be written back
    /// before.
    pub fn allocate_host_register(&mut self, guest: u8) -> (u8, Option<u8>) {
        let free = |held: &HostRegisterUse| if held.guest.is_none() { 0 } else { 1 + held.used };
        let (index, held) = self
            .held
            .iter_mut()
            .enumerate()
            .filter(|(_, held)| !held.locked && !held.reserved)
            .min_by_key(|(_, held)| free(held))
            .expect("an instruction needs fewer registers than there are");
        let evicted = held.guest.filter(|_| held.dirty);
        *held = HostRegisterUse { guest: Some(guest), dirty: false, used: self.now, locked: true, reserved: false };
        self.used |= 1 << HOSTS[index];
        (HOSTS[index], evicted)
    }

    /// Drops the guest registers in host registers that a call does not preserve. None of them may need a write-back.
    pub fn drop_registers_changed_by_call(&mut self) {
        for (held, host) in self.held.iter_mut().zip(HOSTS) {
            if host < 12 {
                *held = HostRegisterUse { reserved: held.reserved, ..HostRegisterUse::default() };
            }
            held.dirty = false;
        }
    }

    /// Drops the guest registers in all host registers.
    pub fn forget_held_guest_registers(&mut self) {
        self.steady = 0;
        self.held
            .iter_mut()
            .for_each(|held| *held = HostRegisterUse { reserved: held.reserved, ..HostRegisterUse::default() });
    }

    /// Notes that the guest register keeps its value from now on, until it is written.
    pub fn mark_guest_register_unchanging(&mut self, guest: u8) {
        self.steady |= 1 << guest;
    }

    /// Returns whether the guest register still has the value that it had at
    /// [`Registers::mark_guest_register_unchanging`].
    pub fn is_register_steady(&self, guest: u8) -> bool {
        self.steady >> guest & 1 != 0
    }

    /// Notes that the guest register has a new value, which must be written back.
    pub fn mark_register_dirty(&mut self, guest: u8) {
        self.steady &= !(1 << guest);
        self.held.iter_mut().filter(|held| held.guest == Some(guest)).for_each(|held| held.dirty = true);
    }

    /// Returns the guest registers that must be written back to the core, each with its host register.
    pub fn dirty_registers(&self) -> Vec<(u8, u8)> {
        let pairs = self.held.iter().zip(HOSTS);
        pairs.filter(|(held, _)| held.dirty).filter_map(|(held, host)| Some((held.guest?, host))).collect()
    }
}
