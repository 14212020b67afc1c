//! The registers: FIFOs and their flags, interrupts, requests, control.

use super::*;

#[test]
fn reset_values() {
    let mut rig = Rig { bench: Bench::new(), pio: Pio::new(7), now: 0, edges: Vec::new() };
    for (offset, value) in [
        (CTRL, 0),
        (FSTAT, 0x0f00_0f00),
        (FDEBUG, 0),
        (FLEVEL, 0),
        (IRQ, 0),
        (0x38, 0),
        (0x44, 0x0020_0404),
        (0x128, 0x0f0),
    ] {
        assert_eq!(rig.read_register(offset), value, "{offset:#x}");
    }
    for number in 0..4 {
        for (register, value) in [
            (CLKDIV, EVERY_CYCLE),
            (EXECCTRL, 0x0001_f000),
            (SHIFTCTRL, 0x000c_0000),
            (ADDR, 0),
            (INSTR, 0),
            (PINCTRL, 0x1400_0000),
        ] {
            assert_eq!(rig.read_register(register_of(number, register)), value, "{register:#x} of {number}");
        }
    }
    rig.pio.read_register(0x144, &mut rig.bench.access());
    assert_eq!(rig.bench.effects.unmodelled, Some((0x144, false)));
}

#[test]
fn what_is_left_of_all_ones() {
    let mut rig = Rig::new(&[]);
    for (offset, value) in [
        (0x38, u32::MAX),
        (register_of(3, CLKDIV), 0xffff_ff00),
        (register_of(3, EXECCTRL), 0x7fff_ff9f),
        (register_of(3, SHIFTCTRL), 0xffff_0000),
        (register_of(3, PINCTRL), u32::MAX),
        (0x12c, 0xfff),
        (0x130, 0xfff),
        (0x138, 0xfff),
        (0x13c, 0xfff),
        (0x44, 0x0020_0404),
    ] {
        rig.write_register(offset, u32::MAX);
        assert_eq!(rig.read_register(offset), value, "{offset:#x}");
    }
}

#[test]
fn fifos_fill_overflow_and_join() {
    let mut rig = Rig::new(&[]);
    for word in 0..4 {
        rig.write_register(TXF0 + 4, word);
    }
    assert_eq!((rig.read_register(FSTAT), rig.read_register(FLEVEL)), (0x0d02_0f00, 4 << 8));
    assert_eq!(rig.read_register(FDEBUG), 0);
    rig.write_register(TXF0 + 4, 9);
    assert_eq!((rig.read_register(FDEBUG), rig.read_register(FLEVEL)), (1 << 17, 4 << 8));
    rig.write_register(FDEBUG, 1 << 17);
    assert_eq!((rig.read_register(RXF0), rig.read_register(FDEBUG)), (0, 1 << 8));
    // Joined for sending: emptied, eight words deep, and nothing can be received.
    rig.write_register(register_of(1, SHIFTCTRL), 1 << 30);
    assert_eq!(rig.read_register(FSTAT), 0x0f00_0f02);
    for word in 0..8 {
        rig.write_register(TXF0 + 4, word);
    }
    assert_eq!((rig.read_register(FSTAT), rig.read_register(FLEVEL)), (0x0d02_0f02, 8 << 8));
    rig.write_register(register_of(1, SHIFTCTRL), 1 << 31);
    assert_eq!((rig.read_register(FSTAT), rig.read_register(FLEVEL)), (0x0f02_0f00, 0));
}

#[test]
fn received_words_come_in_order() {
    // in x, 32; push; jmp x--, 0; stay
    let mut rig = Rig::new(&[0x4020, PUSH, 0x0040, 0x0003]);
    rig.write_register(INSTR, u32::from(SET_X | 1));
    rig.start(1);
    rig.run_to(rig.now + 40);
    assert_eq!(rig.read_register(FLEVEL), 2 << 4);
    rig.write_register(CTRL, 0);
    assert_eq!(rig.read_register(RXF0), 1);
    assert_eq!(rig.read_register(FLEVEL), 1 << 4);
    assert_eq!(rig.read_register(RXF0), 0);
    assert_eq!((rig.read_register(FSTAT), rig.read_register(FDEBUG)), (0x0f00_0f00, 0));
}

#[test]
fn interrupts_of_fifos_and_flags() {
    let mut rig = Rig::new(&[]);
    rig.write_register(0x12c, 1 << 8 | 1 << 4);
    rig.run_to(rig.now + 2);
    assert_eq!(rig.pio.irq_levels(), 1 << 7, "room to send");
    rig.write_register(0x12c, 1 << 8);
    rig.run_to(rig.now + 2);
    assert_eq!(rig.pio.irq_levels(), 0);
    rig.write_register(0x34, 0xf1); // IRQ_FORCE
    rig.run_to(rig.now + 2);
    assert_eq!((rig.read_register(IRQ), rig.read_register(0x134), rig.pio.irq_levels()), (0xf1, 1 << 8, 1 << 7));
    rig.write_register(IRQ, 1);
    rig.run_to(rig.now + 2);
    assert_eq!((rig.read_register(IRQ), rig.pio.irq_levels()), (0xf0, 0));
    rig.write_register(0x13c, 1 << 11);
    rig.run_to(rig.now + 2);
    assert_eq!((rig.read_register(0x140), rig.pio.irq_levels()), (1 << 11, 1 << 8));
}

#[test]
fn requests_count_what_is_on_its_way() {
    let mut rig = Rig::new(&[]);
    assert_eq!(rig.pio.dma_requests(), 0x0f);
    for _ in 0..4 {
        assert_eq!(rig.pio.dma_requests() & 1, 1);
        rig.write_register(TXF0, 0);
    }
    assert_eq!(rig.pio.dma_requests(), 0x0e);
    rig.read_register(FSTAT);
    assert_eq!(rig.pio.dma_requests(), 0x0e);
}

#[test]
fn a_watched_request_is_an_event() {
    // pull, every 16 cycles
    let mut rig = Rig::new(&[delayed(PULL, 15)]);
    for _ in 0..4 {
        rig.write_register(TXF0, 0);
    }
    rig.pio.set_watched_dma_requests(1, &mut rig.bench.access_at(rig.now));
    let start = rig.start(1);
    assert_eq!(rig.pio.dma_requests() & 1, 0);
    rig.run_to(start);
    assert_eq!((rig.now, rig.pio.dma_requests() & 1), (start, 1));
}

#[test]
fn forced_instructions_execute_at_once_and_may_stall() {
    // A slow program that stays where it is.
    let mut rig = Rig::new(&[0x0000, NOP, NOP, 0x0003]);
    rig.write_register(CLKDIV, 1000 << 16);
    rig.start(1);
    rig.write_register(INSTR, u32::from(delayed(0x0003, 31))); // jmp 3
    rig.run_to(rig.now + 2);
    assert_eq!(rig.read_register(ADDR), 3);
    assert_eq!(rig.read_register(EXECCTRL) >> 31, 0);
    rig.write_register(INSTR, u32::from(PULL));
    assert_eq!(rig.read_register(EXECCTRL) >> 31, 1);
    rig.write_register(TXF0, 5);
    rig.run_to(rig.now + 2);
    assert_eq!((rig.read_register(EXECCTRL) >> 31, rig.read_register(FLEVEL)), (0, 0));
    assert_eq!(rig.pio.engine.machines[0].osr, 5);
    // Also of a machine that is off, where a restart clears one that is stalled.
    rig.write_register(CTRL, 0);
    rig.write_register(INSTR, u32::from(PULL));
    assert_eq!(rig.read_register(EXECCTRL) >> 31, 1);
    rig.write_register(CTRL, 1 << 4);
    assert_eq!(rig.read_register(EXECCTRL) >> 31, 0);
}

#[test]
fn restart_clears_what_the_data_sheet_lists() {
    let mut rig = Rig::new(&[0x0000]);
    rig.run_to(rig.now + 2);
    {
        let m = &mut rig.pio.engine.machines[0];
        (m.isr, m.isr_count, m.osr, m.osr_count, m.x, m.y, m.pc, m.raised) = (1, 2, 3, 4, 5, 6, 7, true);
        m.inserted = Some(0);
    }
    rig.write_register(CTRL, 1 << 4);
    rig.read_register(CTRL);
    let m = &rig.pio.engine.machines[0];
    assert_eq!((m.isr, m.isr_count, m.osr, m.osr_count), (0, 0, 3, 32));
    assert_eq!((m.x, m.y, m.pc, m.raised, m.inserted), (5, 6, 7, false, None));
}

#[test]
fn strobes() {
    let pio = Pio::new(7);
    let strobes: Vec<u32> = (0..0x144).step_by(4).filter(|&offset| pio.is_strobe(offset)).collect();
    assert_eq!(strobes, [0x08, 0x10, 0x14, 0x18, 0x1c, 0x30, 0x34, 0xd8, 0xf0, 0x108, 0x120]);
}

#[test]
fn machines_that_are_off_schedule_nothing() {
    let mut rig = Rig::new(&[SET_PINS | 1, SET_PINS]);
    rig.run_to(rig.now + 2);
    assert_eq!(rig.pio.next_event_cycle(), NEVER);
    rig.start(1);
    rig.run_to(rig.now + 20);
    assert_ne!(rig.pio.next_event_cycle(), NEVER);
    rig.write_register(CTRL, 0);
    rig.run_to(rig.now + 2);
    assert_eq!(rig.pio.next_event_cycle(), NEVER);
}
