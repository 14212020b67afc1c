//! Instrumentation trace macrocell (ARMv7-M C1.7): stimulus ports that software writes to, and who may.
//!
//! What is written leaves at once: the trace port is as fast as the core.

/// Ports.
const PORTS: u32 = 32;
const TER: u32 = 0xe00;
const TPR: u32 = 0xe40;
const TCR: u32 = 0xe80;
const LAR: u32 = 0xfb0;
const LSR: u32 = 0xfb4;
const UNLOCK_KEY: u32 = 0xc5ac_ce55;
/// TCR.ITMENA.
const ENABLED: u32 = 1 << 0;
const TCR_WRITABLE: u32 = 0x007f_0f1f;

/// The instrumentation trace macrocell: registers through which software sends trace output.
#[derive(Debug, Clone)]
pub struct Itm {
    /// Ports that are open.
    ports: u32,
    /// Bit n: ports 8n to 8n + 7 are for privileged software alone.
    privileged: u32,
    control: u32,
    /// TER, TPR and TCR ignore writes.
    locked: bool,
    /// Software asked for a port, or whether there is trace, while nobody had switched it on.
    asked_in_vain: bool,
}

impl Default for Itm {
    /// Returns an ITM in its reset state: disabled and locked.
    fn default() -> Itm {
        Itm { ports: 0, privileged: 0, control: 0, locked: true, asked_in_vain: false }
    }
}

/// A write to a stimulus port of the ITM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stimulus {
    /// The port.
    pub port: u8,
    /// 1, 2 or 4.
    pub bytes: u8,
    /// The bytes, the first one lowest.
    pub value: u32,
}

impl Itm {
    /// Enables every stimulus port of the ITM, as a debugger that shows the output does. The caller sets DEMCR.TRCENA.
    pub fn enable_stimulus_ports(&mut self) {
        self.ports = u32::MAX;
        self.control |= ENABLED;
    }

    /// Returns whether software used registers that only a debugger that shows the output would have switched on.
    pub fn is_missing_debugger(&self) -> bool {
        self.asked_in_vain
    }

    /// Returns whether the ITM is enabled (ITMENA).
    fn is_enabled(&self) -> bool {
        self.control & ENABLED != 0
    }

    /// Reads an ITM register at an offset from 0xE0000000.
    pub fn read_register(&mut self, offset: u32) -> u32 {
        self.asked_in_vain |= matches!(offset, 0..0x400 | TER | TCR) && !self.is_enabled();
        match offset {
            // A stimulus port always accepts.
            0..0x400 => 1,
            TER => self.ports,
            TPR => self.privileged,
            TCR => self.control,
            // A lock is there.
            LSR => 1 | u32::from(self.locked) << 1,
            _ => 0,
        }
    }

    /// Writes `value`, `bytes` long, to an ITM register at an offset from 0xE0000000. Returns the trace output, if some
    /// is sent. Unprivileged software can write to the ports that TPR allows and to their bits of TER; its other writes
    /// are discarded (Cortex-M3 TRM r1p1, 15.6.3). `traces`: DEMCR.TRCENA.
    pub fn write_register(
        &mut self,
        offset: u32,
        bytes: u32,
        value: u32,
        privileged: bool,
        traces: bool,
    ) -> Option<Stimulus> {
        let port = offset / 4;
        if port >= PORTS {
            self.write_itm_register(offset & 0xffc, value, privileged);
            return None;
        }
        self.asked_in_vain |= !self.is_enabled();
        let is_open = traces && self.is_enabled() && self.ports >> port & 1 != 0;
        let leaves = is_open && offset & 3 == 0 && (privileged || self.may_access_stimulus_port(port));
        leaves.then_some(Stimulus { port: port as u8, bytes: bytes as u8, value })
    }

    /// Writes an ITM register other than a stimulus port.
    fn write_itm_register(&mut self, offset: u32, value: u32, privileged: bool) {
        match offset {
            LAR if privileged => self.locked = value != UNLOCK_KEY,
            _ if self.locked => {}
            TER => {
                let admitted = |port: &u32| privileged || self.may_access_stimulus_port(*port);
                let mask = (0..PORTS).filter(admitted).fold(0, |mask, port| mask | 1 << port);
                self.ports = self.ports & !mask | value & mask;
            }
            _ if !privileged => {}
            TPR => self.privileged = value & 0xf,
            TCR => self.control = value & TCR_WRITABLE,
            _ => {}
        }
    }

    /// Returns whether software with this privilege may use a port.
    fn may_access_stimulus_port(&self, port: u32) -> bool {
        self.privileged >> (port / 8) & 1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_register(itm: &mut Itm, offset: u32, bytes: u32, value: u32) -> Option<Stimulus> {
        itm.write_register(offset, bytes, value, true, true)
    }

    #[test]
    fn itm_port_accepts_writes_when_enabled() {
        let mut itm = Itm::default();
        assert_eq!(write_register(&mut itm, 0, 1, 0x41), None, "closed");
        assert!(itm.is_missing_debugger());
        write_register(&mut itm, TCR, 4, ENABLED);
        assert_eq!(itm.read_register(TCR), 0, "locked");
        write_register(&mut itm, LAR, 4, UNLOCK_KEY);
        write_register(&mut itm, TCR, 4, ENABLED);
        write_register(&mut itm, TER, 4, 1 << 3);
        assert_eq!((itm.read_register(TCR), itm.read_register(TER), itm.read_register(LSR)), (1, 8, 1));
        assert_eq!(write_register(&mut itm, 0, 1, 0x41), None, "another port");
        assert_eq!(write_register(&mut itm, 12, 2, 0x4241), Some(Stimulus { port: 3, bytes: 2, value: 0x4241 }));
        assert_eq!(write_register(&mut itm, 13, 1, 0x41), None, "not at its begin");
        assert_eq!(itm.write_register(12, 2, 0x4241, true, false), None, "no trace");
    }

    #[test]
    fn debugger_enables_all_ports() {
        let mut itm = Itm::default();
        itm.enable_stimulus_ports();
        assert_eq!(itm.read_register(TCR), ENABLED);
        assert!(!itm.is_missing_debugger());
        for port in 0..PORTS {
            assert_eq!(write_register(&mut itm, 4 * port, 1, 7).map(|written| written.port), Some(port as u8));
        }
        assert_eq!(write_register(&mut itm, 4 * PORTS, 1, 7), None);
    }

    #[test]
    fn tpr_protects_ports_from_unprivileged_code() {
        let mut itm = Itm::default();
        itm.enable_stimulus_ports();
        write_register(&mut itm, LAR, 4, UNLOCK_KEY);
        write_register(&mut itm, TPR, 4, 1 << 1);
        assert!(itm.write_register(0, 1, 7, false, true).is_some());
        assert!(itm.write_register(4 * 8, 1, 7, false, true).is_none());
        itm.write_register(TPR, 4, 0, false, true);
        assert_eq!(itm.read_register(TPR), 2, "it cannot change that");
        itm.write_register(TER, 4, 0, false, true);
        assert_eq!(itm.read_register(TER), 0xff00, "those that are not its own stay");
    }
}
