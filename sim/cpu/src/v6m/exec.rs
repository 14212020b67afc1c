//! The interpreter: ARMv6-M instructions with their cycles, for one or two cores interleaved to the cycle.
//!
//! One function, because dispatch, flags and time must stay in registers; it is longer than the house limit for
//! that reason. A core runs until its `limit` (the chip's next event, or the other core's time) and then the
//! core that is behind goes on, without leaving the function. Everything that happens only now and then (faults,
//! exceptions, sleep, ROM functions) breaks out to the machine through `Core::request`.
//!
//! Bus model under contention: an instruction's data access claims its slot in the cycle of issue; the next
//! sequential word is fetched in the first slot that the instruction leaves free; a branch fetches its target in
//! its last cycle but one. Without a collision this gives exactly the manual's table.

mod fetching;
mod operands;
mod watching;

use crate::step::watch;
use crate::v6m::bus::{Bus, Trap};
use crate::v6m::core::{Core, Phase, ProfileCell, Request};
use crate::v6m::op::{Code, Op, op};
use crate::v6m::pair::{Stretch, Turn};
use crate::v6m::trace::Trace;
use fetching::{after_wide, fetch, second_half_ready, wait_for_fetch};
use operands::{condition_holds, in_ram, is_plain, shift_by_register};
use rtoslab_timing::cortex_m0plus as timing;
use watching::{Started, profile_cell};

/// Runs `cores[start]` (and, under `CONTEND`, the other one too) until the machine must act.
///
/// # Safety
/// `cores` points to two cores; `ip` of each core that may run points into the ops of its region, whose table
/// ends with out-of-region ops; nothing else accesses cores or bus meanwhile.
pub unsafe fn run<B: Bus, const CONTEND: bool, const WATCH: u8>(cores: *mut Core, start: usize, bus: &mut B) {
    // SAFETY: the caller promises two cores, which nothing else accesses.
    let (first, second) = unsafe { (&mut *cores, &mut *cores.add(1)) };
    let mut skipped = start != 0;
    if !CONTEND || !B::TWO_CORES {
        let (core, other) = if skipped { (second, first) } else { (first, second) };
        // SAFETY: the caller's promise, here and below.
        unsafe { turn::<B, CONTEND, WATCH>(core, other, bus) };
        return;
    }
    // The interpreter is there twice, once for each core: that spares exchanging their registers, and the host predicts
    // the branches of each by themselves.
    if skipped {
        second.rival_t = first.t;
    } else {
        first.rival_t = second.t;
    }
    loop {
        if !std::mem::take(&mut skipped) {
            // SAFETY: as above.
            if !unsafe { turn::<B, CONTEND, WATCH>(first, second, bus) } {
                return;
            }
            hand_over(first, second, bus);
        }
        // SAFETY: as above.
        if !unsafe { turn::<B, CONTEND, WATCH>(second, first, bus) } {
            return;
        }
        hand_over(second, first, bus);
    }
}

/// It is the turn of core `to`, up to where `from` stands.
#[inline(always)]
fn hand_over<B: Bus>(from: &Core, to: &mut Core, bus: &B) {
    to.rival_t = from.t;
    to.limit = from.t + u64::from(bus.first() == to.id);
}

/// Runs `core` until its limit. True if that was the other core's time, whose turn it is now; false if the machine must
/// act.
///
/// # Safety
/// As for [`run`]; in the mode that executes ahead nothing else uses the flights of `bus`.
#[inline(always)]
#[allow(clippy::cognitive_complexity, clippy::too_many_lines)]
unsafe fn turn<'a, B: Bus, const CONTEND: bool, const WATCH: u8>(
    mut core: &'a mut Core,
    mut other: &'a mut Core,
    bus: &mut B,
) -> bool {
    // Traces, and stretches of two cores: without arbitration they are executed without time, with it their time is found
    // out without effects.
    let paired = WATCH == watch::PAIRS;
    let traced = WATCH == watch::TRACES || paired;
    let ahead = traced && !CONTEND;
    // SAFETY of what follows, where it says no more: `ip` points into the ops of `core.region`. The caller promises it of
    // where the core stands; instructions lead to another op of the region or to those behind its last, near branches stay
    // inside by the decoder's word, and others are compared with the region or ask the bus for theirs.
    let mut ip = core.ip;
    let mut t = core.t;
    let mut count: u64 = if CONTEND || traced { 0 } else { core.instructions };
    // Profile bookkeeping of the instruction in hand: its cell, its issue cycle, the waits so far.
    let mut cell: *mut ProfileCell = std::ptr::null_mut();
    let mut before = t;
    let mut waits_before = 0;
    let mut executed_before = 0;
    let mut in_hand = Started::default();
    // What the time of the trace in hand depends on; see [`Trace`].
    let mut branches = Trace::NO_BRANCHES;
    let mut wild = Trace::TAME;
    // The stretch in hand; see [`Stretch`].
    let (mut from, mut end) = (ip, ip.wrapping_byte_add(Stretch::BYTES));
    let mut accesses: u64 = 0;
    let [mut flight, mut other_flight] = if paired && ahead { bus.flights(core.id) } else { [std::ptr::null_mut(); 2] };
    if paired && ahead {
        // SAFETY: the bus's flights live as long as it.
        unsafe { (*flight).begin(core) };
    }

    // Two cores take turns too often for a register: each counts in its own place.
    macro_rules! counted {
        () => {
            if CONTEND {
                core.instructions += 1;
            } else {
                count += 1;
            }
        };
    }
    macro_rules! keep_count {
        () => {
            if !CONTEND && !traced {
                core.instructions = count;
            }
        };
    }
    macro_rules! r {
        ($index:expr) => {
            core.r[($index & 15) as usize]
        };
    }
    macro_rules! n {
        () => {
            core.nz < 0
        };
    }
    macro_rules! z {
        () => {
            core.nz as u32 == 0
        };
    }
    macro_rules! set_nz {
        ($value:expr) => {
            core.nz = i64::from($value as i32)
        };
    }
    // a + b + carry with all four flags; subtraction is a + !b + carry (ARMv6-M A2.2.1).
    macro_rules! add_flags {
        ($a:expr, $b:expr) => {{
            let (a, b): (u32, u32) = ($a, $b);
            let (sum, carry) = a.overflowing_add(b);
            core.c = carry;
            core.v = (a as i32).overflowing_add(b as i32).1;
            set_nz!(sum);
            sum
        }};
    }
    macro_rules! sub_flags {
        ($a:expr, $b:expr) => {{
            let (a, b): (u32, u32) = ($a, $b);
            let difference = a.wrapping_sub(b);
            core.c = a >= b;
            core.v = (a as i32).overflowing_sub(b as i32).1;
            set_nz!(difference);
            difference
        }};
    }
    macro_rules! adc_flags {
        ($a:expr, $b:expr) => {{
            let (a, b): (u32, u32) = ($a, $b);
            let wide = u64::from(a) + u64::from(b) + u64::from(core.c);
            let sum = wide as u32;
            core.c = wide >> 32 != 0;
            core.v = ((a ^ sum) & (b ^ sum)) >> 31 != 0;
            set_nz!(sum);
            sum
        }};
    }

    'run: loop {
        if WATCH == watch::PROFILE {
            // SAFETY: the profile is on, so that there are cells.
            cell = unsafe { profile_cell(core, ip) };
            before = t;
            waits_before = core.bus_wait + core.flash_wait;
            executed_before = if CONTEND { core.instructions } else { count };
        }
        if WATCH == watch::STEPS {
            let executed = if CONTEND { core.instructions } else { count };
            in_hand = Started::new(core, ip, t, executed);
        }
        if paired && ahead {
            from = ip;
        }
        // SAFETY: see above.
        let mut word = unsafe { *ip }.to_word();
        // The fields of [`Op`], taken from one register instead of five loads.
        macro_rules! a {
            () => {
                (word >> 8) as u8
            };
        }
        macro_rules! b {
            () => {
                (word >> 16) as u8
            };
        }
        macro_rules! c {
            () => {
                (word >> 24) as u8
            };
        }
        macro_rules! imm {
            () => {
                (word >> 32) as u32
            };
        }
        // A call that advances time gets a copy: `t` itself must never have its address taken, or it lives in
        // memory and every instruction waits for it.
        macro_rules! slow {
            (|$at:ident| $call:expr) => {{
                let mut copy = t;
                let $at = &mut copy;
                let result = $call;
                t = copy;
                result
            }};
        }

        // How far the instruction came.
        let came = 'hold: {
            'instruction: {
                // What no trace holds: it ends before this instruction.
                macro_rules! apart {
                    () => {
                        if traced {
                            break 'hold Came::Apart;
                        }
                    };
                }
                macro_rules! fault {
                    ($why:expr) => {{
                        apart!();
                        core.request = Request::Fault($why);
                        break 'run;
                    }};
                }
                // A trace has room for one thing that its opcodes and branches do not tell.
                macro_rules! wild {
                    ($what:expr) => {{
                        if wild != Trace::TAME {
                            break 'hold Came::TooWild;
                        }
                        wild = $what;
                    }};
                }
                // A branch is over; a stretch ends behind it.
                macro_rules! branched {
                    () => {{
                        if paired && ahead {
                            break 'hold Came::Elsewhere;
                        }
                        break 'instruction;
                    }};
                }
                // Fetch of the word at `$target` (a branch): the instruction there issues two cycles later.
                macro_rules! refill {
                    ($target:expr, $at:expr) => {{
                        if CONTEND {
                            let fetched = fetch(bus, core, $target, 0, $at, true);
                            t = fetched + 2;
                            // A late fetch ahead is over: this one had to wait for its slot.
                            if $target as usize & 8 != 0 {
                                fetch(bus, core, $target, 1, fetched + 1, false);
                            }
                        } else {
                            t = $at + 2;
                        }
                    }};
                }
                macro_rules! near {
                    ($condition:expr) => {{
                        let taken = match (traced && CONTEND, paired) {
                            (false, _) => $condition,
                            (true, false) => core.trace.next_branch(),
                            (true, true) => core.rest.takes_branch(),
                        };
                        if ahead && !paired {
                            branches = branches << 1 | u64::from(taken);
                        }
                        if taken {
                            ip = ip.wrapping_offset(imm!() as i32 as isize);
                            refill!(ip, t);
                            branched!();
                        }
                        t += timing::SINGLE_CYCLES;
                    }};
                }
                // Branch by register inside a trace; `$odd`: the target must have the Thumb bit.
                macro_rules! leap {
                        ($address:expr, $at:expr, $odd:expr $(, $link:expr)?) => {{
                            ip = if CONTEND && paired {
                                core.rest.next
                            } else if CONTEND {
                                core.trace.target()
                            } else {
                                let target: u32 = $address;
                                if $odd && target & 1 == 0 {
                                    break 'hold Came::Apart;
                                }
                                let offset = (target & !1).wrapping_sub(core.region.base);
                                if offset >= core.region.bytes {
                                    break 'hold Came::Apart;
                                }
                                let target = core.region.ops.wrapping_add(offset as usize / 2);
                                if !paired {
                                    wild!(Trace::leap(target));
                                }
                                $($link;)?
                                target
                            };
                            refill!(ip, $at);
                            branched!();
                        }};
                    }
                // Branch to an absolute address; `$at` is the cycle of the target's fetch.
                macro_rules! far {
                    ($address:expr, $at:expr) => {{
                        if traced {
                            leap!($address, $at, false);
                        }
                        let address: u32 = $address & !1;
                        let at: u64 = $at;
                        let offset = address.wrapping_sub(core.region.base);
                        if offset >= core.region.bytes {
                            match bus.region(address) {
                                Some(region) => {
                                    core.region = region;
                                    core.bus_free = core.bus_free.max(bus.region_free(core));
                                }
                                None => {
                                    t = at + 2;
                                    counted!();
                                    core.stray = Some(address);
                                    fault!("instruction fetch from an address that holds no code");
                                }
                            }
                        }
                        let offset = address.wrapping_sub(core.region.base);
                        ip = core.region.ops.wrapping_add(offset as usize / 2);
                        refill!(ip, at);
                    }};
                }
                // BX, BLX and POP {PC}: exception return in handler mode, else the Thumb bit must be set.
                macro_rules! exchange {
                    ($value:expr, $at:expr) => {{
                        let value: u32 = $value;
                        if traced {
                            leap!(value, $at, true);
                        }
                        if core.ipsr != 0 && value >= 0xf000_0000 {
                            t = $at;
                            counted!();
                            core.request = Request::ExceptionReturn(value);
                            break 'run;
                        }
                        far!(value, $at);
                        if value & 1 == 0 {
                            counted!();
                            core.thumb = false;
                            fault!("branch to an address without the Thumb bit");
                        }
                        break 'instruction;
                    }};
                }
                macro_rules! trapped {
                    ($trap:expr) => {
                        match $trap {
                            Trap::Fault(why) => fault!(why),
                            Trap::Defer => {
                                core.limit = 0;
                                bus.request_attention();
                                // Its probes have fired; they must not fire again when it is retried.
                                // SAFETY: see above.
                                core.retried = unsafe { *ip }.code == Code::Attend;
                                break 'hold Came::Nowhere;
                            }
                        }
                    };
                }
                // Where a single load or store goes; a stretch whose time is found out knows which memory it was.
                macro_rules! load {
                    ($address:expr, $bytes:literal, $type:ty) => {{
                        if paired && CONTEND {
                            let memory = core.rest.access();
                            if memory == B::CONSTANT_MEMORY {
                                t = bus.time_constant(core, t);
                                0 as $type
                            } else {
                                load_at!(bus.sample_of(memory), $bytes, $type, true)
                            }
                        } else {
                            load_word!($address, $bytes, $type, true)
                        }
                    }};
                }
                macro_rules! load_word {
                    ($address:expr, $bytes:literal, $type:ty, $single:literal) => {{
                        let address: u32 = if traced && CONTEND && !paired {
                            core.trace.address(core.instructions).unwrap_or(B::RAM_BASE)
                        } else {
                            $address
                        };
                        load_at!(address, $bytes, $type, $single)
                    }};
                }
                macro_rules! load_at {
                    ($address:expr, $bytes:literal, $type:ty, $single:literal) => {{
                        let address: u32 = $address;
                        let offset = address.wrapping_sub(B::RAM_BASE);
                        if in_ram::<B>(offset, $bytes) {
                            let slot = if CONTEND {
                                let row = bus.ram_row(offset);
                                bus.claim(core, row, t, true)
                            } else {
                                t
                            };
                            if paired && ahead {
                                if $single {
                                    access!(bus.memory_of(offset, $bytes));
                                }
                                // SAFETY: the bus's flights live as long as it.
                                unsafe { (*flight).read(offset) };
                            }
                            t = slot + timing::MEMORY_CYCLES;
                            // SAFETY: it is in the RAM.
                            <$type>::from_le(unsafe { bus.ram().add(offset as usize).cast::<$type>().read_unaligned() })
                        } else if ahead {
                            let Some(value) = bus.constant(address, $bytes) else { break 'hold Came::Apart };
                            if paired && $single {
                                access!(Some(B::CONSTANT_MEMORY));
                            } else if !paired && word as u8 != op::LdrLit {
                                wild!(Trace::read(count, address));
                            }
                            value as $type
                        } else {
                            // Who touches it is told from here.
                            core.ip = ip;
                            match slow!(|at| bus.load::<CONTEND>(core, Some(&*other), address, $bytes, at)) {
                                Ok(value) => value as $type,
                                Err(trap) => trapped!(trap),
                            }
                        }
                    }};
                }
                // The next access of the stretch in hand.
                macro_rules! access {
                    ($memory:expr) => {{
                        let Some(memory) = $memory else { break 'hold Came::Apart };
                        accesses = accesses << Stretch::ACCESS_BITS | Stretch::ACCESS | u64::from(memory);
                    }};
                }
                macro_rules! store {
                    ($address:expr, $bytes:literal, $type:ty, $value:expr) => {{
                        let address: u32 = match (traced && CONTEND, paired) {
                            (false, _) => $address,
                            (true, false) => B::RAM_BASE,
                            (true, true) => bus.sample_of(core.rest.access()),
                        };
                        store_at!(address, $bytes, $type, $value, true)
                    }};
                }
                macro_rules! store_word {
                    ($value:expr) => {{
                        let address = if traced && CONTEND && !paired { B::RAM_BASE } else { core.transfer.address };
                        store_at!(address, 4, u32, $value, false)
                    }};
                }
                macro_rules! store_at {
                    ($address:expr, $bytes:literal, $type:ty, $value:expr, $single:literal) => {{
                        let address: u32 = $address;
                        let value: u32 = $value;
                        let offset = address.wrapping_sub(B::RAM_BASE);
                        if in_ram::<B>(offset, $bytes) {
                            let slot = if CONTEND {
                                let row = bus.ram_row(offset);
                                bus.claim(core, row, t, true)
                            } else {
                                t
                            };
                            t = slot + timing::MEMORY_CYCLES;
                            if traced && CONTEND {
                                // It was stored when the trace was executed.
                            } else if bus.marks(offset) == 0 {
                                if paired && ahead {
                                    if $single {
                                        access!(bus.memory_of(offset, $bytes));
                                    }
                                    // SAFETY: the word is in the RAM; the bus's flights live as long as it.
                                    unsafe {
                                        let word = bus.ram().add((offset & !3) as usize).cast::<u32>().read_unaligned();
                                        (*flight).write(offset, word);
                                    }
                                }
                                let value = (value as $type).to_le();
                                // SAFETY: it is in the RAM.
                                unsafe { bus.ram().add(offset as usize).cast::<$type>().write_unaligned(value) };
                            } else {
                                apart!();
                                core.ip = ip;
                                bus.store_marked(core, offset, $bytes, value, slot);
                            }
                        } else if traced {
                            break 'hold Came::Apart;
                        } else {
                            core.ip = ip;
                            if let Err(trap) =
                                slow!(|at| bus.store::<CONTEND>(core, Some(&*other), address, $bytes, value, at))
                            {
                                trapped!(trap)
                            }
                        }
                    }};
                }
                // Behind a 32-bit instruction; the second half of its way is that of the others.
                macro_rules! wide {
                    () => {
                        if CONTEND {
                            t = after_wide(bus, core, ip, t, timing::BARRIER_CYCLES);
                            ip = ip.wrapping_add(2);
                            break 'instruction;
                        }
                        ip = ip.wrapping_add(1);
                    };
                }
                // One word of a multiple transfer: a slot each, and one more cycle behind the last.
                macro_rules! next_word {
                ($first:expr, $body:block) => {{
                    if (!traced || paired && CONTEND) && !$first && t >= core.limit {
                        break 'hold Came::Nowhere;
                    }
                    let slot = t;
                    $body
                    t = (t - 1).max(slot + 1);
                    let transfer = &mut core.transfer;
                    transfer.address = transfer.address.wrapping_add(4);
                    transfer.mask &= transfer.mask - 1;
                }};
            }
                macro_rules! start_transfer {
                    ($mask:expr, $address:expr, $words:expr, $store:expr) => {{
                        if ahead && !is_plain(bus, $address, $words, $store) {
                            break 'hold Came::Apart;
                        }
                        let first = core.transfer.mask == 0;
                        if first {
                            if paired && ahead {
                                access!(bus.memory_of($address.wrapping_sub(B::RAM_BASE), 4 * u32::from($words)));
                            }
                            core.transfer.mask = $mask;
                            core.transfer.address =
                                if paired && CONTEND { bus.sample_of(core.rest.access()) } else { $address };
                        }
                        first
                    }};
                }

                'dispatch: loop {
                    match word as u8 {
                        op::MovsReg => {
                            let value = r!(b!());
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::LslImm => {
                            let value = r!(b!());
                            core.c = value >> (32 - imm!()) & 1 != 0;
                            let value = value << (imm!() & 31);
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::LsrImm => {
                            let value = u64::from(r!(b!())) << 1 >> imm!();
                            core.c = value & 1 != 0;
                            let value = (value >> 1) as u32;
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AsrImm => {
                            let value = i64::from(r!(b!()) as i32) << 1 >> imm!();
                            core.c = value & 1 != 0;
                            let value = (value >> 1) as u32;
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AddReg => {
                            r!(a!()) = add_flags!(r!(b!()), r!(c!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::SubReg => {
                            r!(a!()) = sub_flags!(r!(b!()), r!(c!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AddImm => {
                            r!(a!()) = add_flags!(r!(b!()), imm!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::SubImm => {
                            r!(a!()) = sub_flags!(r!(b!()), imm!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::MovImm => {
                            r!(a!()) = imm!();
                            set_nz!(imm!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::CmpImm => {
                            sub_flags!(r!(b!()), imm!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::And => {
                            let value = r!(a!()) & r!(b!());
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Eor => {
                            let value = r!(a!()) ^ r!(b!());
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Orr => {
                            let value = r!(a!()) | r!(b!());
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Bic => {
                            let value = r!(a!()) & !r!(b!());
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Mvn => {
                            let value = !r!(b!());
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Mul => {
                            let value = r!(a!()).wrapping_mul(r!(b!()));
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::MULTIPLY_CYCLES;
                        }
                        op::Tst => {
                            set_nz!(r!(a!()) & r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::LslReg | op::LsrReg | op::AsrReg | op::RorReg => {
                            let value = shift_by_register(word as u8, r!(a!()), r!(b!()) & 0xff, &mut core.c);
                            r!(a!()) = value;
                            set_nz!(value);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Adc => {
                            r!(a!()) = adc_flags!(r!(a!()), r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Sbc => {
                            r!(a!()) = adc_flags!(r!(a!()), !r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Rsb => {
                            r!(a!()) = sub_flags!(0, r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Cmp | op::CmpHi => {
                            sub_flags!(r!(a!()), r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Cmn => {
                            add_flags!(r!(a!()), r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AddHi => {
                            r!(a!()) = r!(a!()).wrapping_add(r!(b!()));
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AddHiSp => {
                            r!(13) = r!(13).wrapping_add(r!(b!())) & !3;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::MovHi => {
                            r!(a!()) = r!(b!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::MovHiSp => {
                            r!(13) = r!(b!()) & !3;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::MovConst => {
                            r!(a!()) = imm!();
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AddConst => {
                            r!(a!()) = r!(a!()).wrapping_add(imm!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::AddNoFlags => {
                            r!(a!()) = r!(b!()).wrapping_add(imm!());
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Sxth => {
                            r!(a!()) = r!(b!()) as i16 as u32;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Sxtb => {
                            r!(a!()) = r!(b!()) as i8 as u32;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Uxth => {
                            r!(a!()) = r!(b!()) & 0xffff;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Uxtb => {
                            r!(a!()) = r!(b!()) & 0xff;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Rev => {
                            r!(a!()) = r!(b!()).swap_bytes();
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Rev16 => {
                            r!(a!()) = r!(b!()).swap_bytes().rotate_left(16);
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Revsh => {
                            r!(a!()) = (r!(b!()) as u16).swap_bytes() as i16 as u32;
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Nop => t += timing::SINGLE_CYCLES,

                        op::LdrLitFlash => {
                            if !paired {
                                apart!();
                            }
                            r!(a!()) = if ahead {
                                let Some(value) = bus.constant(imm!(), 4) else { break 'hold Came::Apart };
                                value
                            } else {
                                slow!(|at| bus.load_literal::<CONTEND>(core, imm!(), at))
                            };
                        }
                        op::LdrLit => r!(a!()) = load_at!(imm!(), 4, u32, false),
                        op::LdrImm => {
                            r!(a!()) = load!(r!(b!()).wrapping_add(imm!()), 4, u32);
                        }
                        op::LdrReg => {
                            r!(a!()) = load!(r!(b!()).wrapping_add(r!(c!())), 4, u32);
                        }
                        op::LdrbImm => {
                            let value = load!(r!(b!()).wrapping_add(imm!()), 1, u8);
                            r!(a!()) = u32::from(value);
                        }
                        op::LdrbReg => {
                            let value = load!(r!(b!()).wrapping_add(r!(c!())), 1, u8);
                            r!(a!()) = u32::from(value);
                        }
                        op::LdrsbReg => {
                            let value = load!(r!(b!()).wrapping_add(r!(c!())), 1, u8);
                            r!(a!()) = value as i8 as u32;
                        }
                        op::LdrhImm => {
                            let value = load!(r!(b!()).wrapping_add(imm!()), 2, u16);
                            r!(a!()) = u32::from(value);
                        }
                        op::LdrhReg => {
                            let value = load!(r!(b!()).wrapping_add(r!(c!())), 2, u16);
                            r!(a!()) = u32::from(value);
                        }
                        op::LdrshReg => {
                            let value = load!(r!(b!()).wrapping_add(r!(c!())), 2, u16);
                            r!(a!()) = value as i16 as u32;
                        }
                        op::StrImm => {
                            store!(r!(b!()).wrapping_add(imm!()), 4, u32, r!(a!()));
                        }
                        op::StrReg => {
                            store!(r!(b!()).wrapping_add(r!(c!())), 4, u32, r!(a!()));
                        }
                        op::StrbImm => {
                            store!(r!(b!()).wrapping_add(imm!()), 1, u8, r!(a!()));
                        }
                        op::StrbReg => {
                            store!(r!(b!()).wrapping_add(r!(c!())), 1, u8, r!(a!()));
                        }
                        op::StrhImm => {
                            store!(r!(b!()).wrapping_add(imm!()), 2, u16, r!(a!()));
                        }
                        op::StrhReg => {
                            store!(r!(b!()).wrapping_add(r!(c!())), 2, u16, r!(a!()));
                        }

                        op::Push => {
                            let bottom = r!(13).wrapping_sub(u32::from(c!()) * 4);
                            let mut first = start_transfer!(imm!(), bottom, c!(), true);
                            while core.transfer.mask != 0 {
                                next_word!(first, {
                                    let register = core.transfer.mask.trailing_zeros();
                                    store_word!(r!(register));
                                });
                                first = false;
                            }
                            r!(13) = bottom;
                            t += 1;
                        }
                        op::Stm => {
                            let base = r!(b!());
                            let mut first = start_transfer!(imm!(), base, c!(), true);
                            while core.transfer.mask != 0 {
                                next_word!(first, {
                                    let register = core.transfer.mask.trailing_zeros();
                                    store_word!(r!(register));
                                });
                                first = false;
                            }
                            r!(b!()) = base.wrapping_add(u32::from(c!()) * 4);
                            t += 1;
                        }
                        op::Pop => {
                            let mut first = start_transfer!(imm!(), r!(13), c!(), false);
                            while core.transfer.mask != 0 {
                                next_word!(first, {
                                    let register = core.transfer.mask.trailing_zeros();
                                    r!(register) = load_word!(core.transfer.address, 4, u32, false);
                                });
                                first = false;
                            }
                            r!(13) = r!(13).wrapping_add(u32::from(c!()) * 4);
                            t += 1;
                        }
                        op::PopPc => {
                            if ahead {
                                let last = r!(13).wrapping_add(u32::from(c!()) * 4);
                                if !is_plain(bus, last, 1, false) {
                                    break 'hold Came::Apart;
                                }
                                let target = load_at!(last, 4, u32, false);
                                let offset = (target & !1).wrapping_sub(core.region.base);
                                if target & 1 == 0 || offset >= core.region.bytes {
                                    break 'hold Came::Apart;
                                }
                                if !paired && wild != Trace::TAME {
                                    break 'hold Came::TooWild;
                                }
                            }
                            // Bit 8 stands for PC, which is the last word.
                            let mut first = start_transfer!(imm!() | 0x100, r!(13), c!() + 1, false);
                            while core.transfer.mask != 0 {
                                next_word!(first, {
                                    let register = core.transfer.mask.trailing_zeros();
                                    let value = load_word!(core.transfer.address, 4, u32, false);
                                    if register == 8 {
                                        core.transfer.held = value;
                                    } else {
                                        r!(register) = value;
                                    }
                                });
                                first = false;
                            }
                            r!(13) = r!(13).wrapping_add(u32::from(c!()) * 4 + 4);
                            exchange!(core.transfer.held, t + 1);
                        }
                        op::Ldm => {
                            let base = r!(b!());
                            let base_bit = 1 << b!();
                            let mut first = start_transfer!(imm!(), base, c!(), false);
                            while core.transfer.mask != 0 {
                                next_word!(first, {
                                    let register = core.transfer.mask.trailing_zeros();
                                    let value = load_word!(core.transfer.address, 4, u32, false);
                                    if register == u32::from(b!()) {
                                        core.transfer.held = value;
                                    } else {
                                        r!(register) = value;
                                    }
                                });
                                first = false;
                            }
                            r!(b!()) = if imm!() & base_bit != 0 {
                                core.transfer.held
                            } else {
                                base.wrapping_add(u32::from(c!()) * 4)
                            };
                            t += 1;
                        }

                        op::Beq => near!(z!()),
                        op::Bne => near!(!z!()),
                        op::Bcs => near!(core.c),
                        op::Bcc => near!(!core.c),
                        op::Bmi => near!(n!()),
                        op::Bpl => near!(!n!()),
                        op::Bvs => near!(core.v),
                        op::Bvc => near!(!core.v),
                        op::Bhi => near!(core.c && !z!()),
                        op::Bls => near!(!core.c || z!()),
                        op::Bge => near!(n!() == core.v),
                        op::Blt => near!(n!() != core.v),
                        op::Bgt => near!(!z!() && n!() == core.v),
                        op::Ble => near!(z!() || n!() != core.v),
                        op::B => {
                            ip = ip.wrapping_offset(imm!() as i32 as isize);
                            refill!(ip, t);
                            branched!();
                        }
                        op::Bl => {
                            r!(14) = core.address_of(ip).wrapping_add(5);
                            let second_half = second_half_ready::<CONTEND>(core, ip, t);
                            ip = ip.wrapping_offset(imm!() as i32 as isize);
                            refill!(ip, second_half + 1);
                            branched!();
                        }
                        op::BccFar => {
                            apart!();
                            if condition_holds(core, a!()) {
                                far!(imm!(), t);
                                break 'instruction;
                            }
                            t += timing::SINGLE_CYCLES;
                        }
                        op::BFar => {
                            apart!();
                            far!(imm!(), t);
                            break 'instruction;
                        }
                        op::BlFar => {
                            apart!();
                            r!(14) = core.address_of(ip).wrapping_add(5);
                            far!(imm!(), t + 1);
                            break 'instruction;
                        }
                        op::Bx => exchange!(r!(b!()), t),
                        op::Blx => {
                            let target = r!(b!());
                            let link = core.address_of(ip).wrapping_add(3);
                            if traced {
                                leap!(target, t, true, r!(14) = link);
                            }
                            r!(14) = link;
                            far!(target, t);
                            if target & 1 == 0 {
                                counted!();
                                core.thumb = false;
                                fault!("branch to an address without the Thumb bit");
                            }
                            break 'instruction;
                        }
                        op::MovPc => {
                            let target = if b!() == 15 { imm!() } else { r!(b!()) };
                            far!(target, t);
                            break 'instruction;
                        }
                        op::AddPc => {
                            far!(imm!().wrapping_add(r!(b!())), t);
                            break 'instruction;
                        }

                        op::Cpsid => {
                            if core.privileged() {
                                core.primask = true;
                            }
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Cpsie => {
                            if traced && core.nvic.pending & core.nvic.enabled != 0 {
                                break 'hold Came::Apart;
                            }
                            if core.privileged() {
                                core.primask = false;
                                if core.nvic.pending & core.nvic.enabled != 0 {
                                    core.limit = 0;
                                    bus.request_attention();
                                }
                            }
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Mrs => {
                            let value = core.special(imm!());
                            r!(a!()) = if a!() == 13 { value & !3 } else { value };
                            t += timing::SPECIAL_REGISTER_CYCLES;
                            wide!();
                        }
                        op::Msr => {
                            if paired && ahead {
                                break 'hold Came::Apart;
                            }
                            if traced && core.nvic.pending & core.nvic.enabled != 0 {
                                break 'hold Came::Apart;
                            }
                            if core.set_special(imm!(), r!(b!())) && core.nvic.pending & core.nvic.enabled != 0 {
                                core.limit = 0;
                                bus.request_attention();
                            }
                            t += timing::SPECIAL_REGISTER_CYCLES;
                            wide!();
                        }
                        op::Barrier => {
                            t += timing::BARRIER_CYCLES;
                            wide!();
                        }
                        op::Sev => {
                            apart!();
                            core.event = true;
                            other.event = true;
                            if other.asleep() {
                                core.limit = 0;
                                bus.request_attention();
                            }
                            t += timing::SINGLE_CYCLES;
                        }
                        op::Wfe => {
                            apart!();
                            t += timing::SLEEP_CYCLES;
                            if core.event {
                                core.event = false;
                            } else {
                                core.phase = Phase::SleepEvent;
                                core.slept_at = t;
                                core.limit = 0;
                                bus.request_attention();
                            }
                        }
                        op::Wfi => {
                            apart!();
                            t += timing::SLEEP_CYCLES;
                            core.phase = Phase::SleepInterrupt { on_exit: None };
                            core.slept_at = t;
                            core.limit = 0;
                            bus.request_attention();
                        }
                        op::Svc => {
                            apart!();
                            ip = ip.wrapping_add(1);
                            counted!();
                            core.request = Request::Svc;
                            break 'run;
                        }
                        op::RomHook => {
                            apart!();
                            core.request = Request::RomHook(imm!() as u8);
                            counted!();
                            break 'run;
                        }
                        op::Bkpt => fault!("BKPT without a debugger"),
                        op::Udf => fault!("undefined instruction"),
                        op::OutOfRegion => fault!(off_the_code(core)),
                        op::Undecoded => {
                            // SAFETY: see above.
                            word = unsafe {
                                bus.decode(core, ip);
                                *ip
                            }
                            .to_word();
                            continue 'dispatch;
                        }
                        op::Attend => {
                            apart!();
                            let address = core.address_of(ip);
                            if core.brought.take() != Some(address) {
                                let asked = t;
                                // SAFETY: see above.
                                let stays = slow!(|at| unsafe { bus.bring::<CONTEND>(core, ip, at) });
                                if t > asked && t >= core.limit {
                                    // It executes in its time: the other core, an event or the end of the run comes first.
                                    core.brought = (!stays).then_some(address);
                                    break 'hold Came::Nowhere;
                                }
                            }
                            let served = std::mem::take(&mut core.retried) || core.transfer.mask != 0;
                            // SAFETY: see above.
                            match slow!(|at| unsafe { bus.attend::<CONTEND>(core, ip, served, at) }) {
                                Some(instruction) => word = instruction.to_word(),
                                None => {
                                    core.request = Request::Stopped;
                                    break 'run;
                                }
                            }
                            continue 'dispatch;
                        }
                        // The word is that of an op, whose code is one of `Code`, each of which has its arm.
                        // SAFETY: as said.
                        _ => unsafe { std::hint::unreachable_unchecked() },
                    }
                    break 'dispatch;
                }
                ip = ip.wrapping_add(1);
                if CONTEND {
                    if ip as usize & 8 != 0 {
                        // The last address phase of an access is two cycles before its end.
                        fetch(bus, core, ip, 1, t - 1, false);
                    } else if core.fetch_ready > t {
                        t = wait_for_fetch(core, t);
                    }
                }
            }
            if WATCH == watch::PROFILE {
                // SAFETY: the cell of this instruction.
                unsafe { (*cell).executions += 1 };
            }
            counted!();
            Came::Through
        };
        if paired && CONTEND {
            if came == Came::Through {
                core.rest.instructions -= 1;
                if core.rest.instructions == 0 {
                    core.ip = ip;
                    core.t = t;
                    return false;
                }
            }
            if t < core.limit {
                continue 'run;
            }
            core.ip = ip;
            core.t = t;
            return true;
        }
        if paired {
            if came == Came::Through && ip < end {
                continue 'run;
            }
            core.ip = ip;
            let last = if came == Came::Elsewhere { from.wrapping_byte_add(1) } else { ip };
            let shape = (last as usize).wrapping_sub(end.wrapping_byte_sub(Stretch::BYTES) as usize) as u64;
            if came == Came::Apart && shape == 0 {
                return false;
            }
            let cores = [&raw mut *core, &raw mut *other];
            let stretch = Stretch { shape, next: ip, accesses };
            // SAFETY: this core has just executed the stretch.
            match unsafe { bus.paired(cores, [flight, other_flight], stretch) } {
                Turn::Same => {}
                Turn::Other => {
                    std::mem::swap(&mut core, &mut other);
                    std::mem::swap(&mut flight, &mut other_flight);
                    ip = core.ip;
                }
                Turn::Stop => return false,
            }
            (end, accesses) = (ip.wrapping_byte_add(Stretch::BYTES), 0);
            // SAFETY: the bus's flights live as long as it.
            unsafe { (*flight).begin(core) };
            continue 'run;
        }
        if traced && CONTEND {
            if came == Came::Through && core.instructions < core.trace.instructions {
                continue 'run;
            }
            core.ip = ip;
            core.t = t;
            return false;
        }
        if traced {
            if came == Came::Through && count < Trace::INSTRUCTIONS {
                continue 'run;
            }
            core.ip = ip;
            let trace = Trace { branches, wild, instructions: count };
            let goes_on = count == 0 || bus.traced(core, trace);
            if came == Came::Apart || !goes_on {
                return false;
            }
            (count, branches, wild) = (0, Trace::NO_BRANCHES, Trace::TAME);
            continue 'run;
        }
        if WATCH == watch::PROFILE {
            // SAFETY: the cell of this instruction.
            unsafe {
                (*cell).cycles += t - before;
                (*cell).wait_cycles += core.bus_wait + core.flash_wait - waits_before;
            }
        }
        if WATCH == watch::STEPS {
            let executed = if CONTEND { core.instructions } else { count };
            in_hand.log(core, ip, t, executed, word as u8);
        }
        if t >= core.limit {
            if !CONTEND || t >= bus.due() {
                leave(core, ip, t);
                keep_count!();
                return false;
            }
            // The limit was the other core's time: it is that core's turn, up to this one's time.
            core.ip = ip;
            core.t = t;
            return true;
        }
    }
    // Nowhere, there is nothing to count.
    if WATCH == watch::PROFILE && !cell.is_null() {
        // SAFETY: the cell of the instruction in hand.
        unsafe {
            (*cell).cycles += t - before;
            (*cell).wait_cycles += core.bus_wait + core.flash_wait - waits_before;
            // SVC and exception returns are through, faults are not.
            (*cell).executions += if CONTEND { core.instructions } else { count } - executed_before;
        }
    }
    if WATCH == watch::STEPS {
        let executed = if CONTEND { core.instructions } else { count };
        in_hand.log(core, ip, t, executed, op::Nop);
    }
    core.ip = ip;
    core.t = t;
    keep_count!();
    bus.request_attention();
    false
}

/// Why nothing can be executed here.
#[cold]
fn off_the_code(core: &Core) -> &'static str {
    match core.stray {
        None => "execution ran off the end of a memory",
        Some(_) if core.thumb => "instruction fetch from an address that holds no code",
        Some(_) => "branch to an address without the Thumb bit",
    }
}

/// Puts down where a core is, apart from the interpreter's frequent paths, so that those stay straight.
#[cold]
#[inline(never)]
fn leave(core: &mut Core, ip: *mut Op, t: u64) {
    core.ip = ip;
    core.t = t;
}

/// How far an instruction came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    /// It was executed.
    Through,
    /// It is to be begun, or gone on with, another time.
    Nowhere,
    /// It is not for a trace, which ends before it.
    Apart,
    /// It is for the next trace.
    TooWild,
    /// It was a branch and was taken: a stretch ends behind it.
    Elsewhere,
}
